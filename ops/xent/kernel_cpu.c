/* UNTRUSTED. Cross-entropy on the CPU, a row at a time: maximum, sums, gradient. Z - 1 and N = Z - exp(-d_t) come
 * as sums without the element in question, never by subtraction, so that a confident row keeps its relative
 * accuracy. Sums are trees over blocks of 256, then block after block: the bits of a row depend on nothing but the
 * row. A block is read before it is overwritten and all else that the gradient needs is read before the first
 * store, so the gradient may lie over the logits. */
#include "ops/xent/kernel_cpu.h"

#include "backend/cpu_math.h"

extern const tki_xent_cpu TKI_ISA_TABLE(tki_xent_cpu);

enum { BLOCK = 256, PARALLEL_FROM = 1 << 13 };

/* A difference of bf16 logits can exceed fp32's range, and so can a sum of them, where its weighted mean does not.
 * So the d_j are summed times 2^-64: what that takes from the smallest of them matters only where ln Z is near ln
 * cols. */
static const float LOWER = 0x1p-64f;
static const float RAISE = 0x1p64f;

typedef struct row_sums {
    float max;
    float rest;   /* Z - 1: the sum without one maximum */
    float others; /* N: the sum without the target */
    float lowered_target_d;
    float lowered_sum_d;
} row_sums;

TKI_INLINE int64_t target_at(const tki_xent_params *p, int64_t row)
{
    return p->wide_target ? ((const int64_t *)p->target)[row] : ((const int32_t *)p->target)[row];
}

TKI_INLINE int smaller(int64_t left)
{
    return left < BLOCK ? (int)left : BLOCK;
}

/* Pads to the next power of two and returns it. */
TKI_INLINE int pad(float *v, int count, float padding)
{
    int width = 1;
    while (width < count)
        width *= 2;
    for (int i = count; i < width; i++)
        v[i] = padding;
    return width;
}

/* Both use v up. */
TKI_INLINE float block_max(float *v, int count)
{
    for (int half = pad(v, count, -__builtin_inff()) / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            v[i] = v[i] > v[half + i] ? v[i] : v[half + i];
    return v[0];
}

TKI_INLINE float block_sum(float *v, int count)
{
    for (int half = pad(v, count, 0.0f) / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            v[i] += v[half + i];
    return v[0];
}

/* log(1 + r) for r >= 0, within a few u relative. 1 + r = 2^k (1 + f) with 1 + f near [sqrt(1/2), sqrt(2)): taking
 * 2^k out of r and 1 apart leaves f with a single rounding. log(1 + f) = 2 atanh(f / (2 + f)) by its series. */
TKI_INLINE float log1p_nonnegative(float r)
{
    const uint32_t sqrt_half = 0x3f3504f3;
    int32_t k = (int32_t)(tki_f32_bits(1.0f + r) - sqrt_half) >> 23;
    float power = tki_power_of_two(-k);
    float f = r * power + (power - 1.0f);
    float s = f / (2.0f + f);
    float s2 = s * s;
    float series = 0x1.745d18p-4f; /* 1/11 */
    series = series * s2 + 0x1.c71c72p-4f;
    series = series * s2 + 0x1.24924ap-3f;
    series = series * s2 + 0x1.99999ap-3f;
    series = series * s2 + 0x1.555556p-2f;
    float twice = s + s;
    float log_f = twice + twice * (s2 * series);
    return (float)k * 0x1.62e4p-1f + (log_f + (float)k * 0x1.7f7d1cp-20f);
}

/* The largest logit, and a place where it stands. A NaN may hide it or take its place; the sums see that. */
TKI_INLINE float find_max(const tki_xent_params *p, int64_t row, int64_t *place, tk_dtype dtype)
{
    float max = -__builtin_inff();
    int64_t best = 0;
    float x[BLOCK];
    for (int64_t begin = 0; begin < p->cols; begin += BLOCK) {
        int count = smaller(p->cols - begin);
        tki_load_block(x, p->logits, row * p->cols + begin, count, dtype);
        float top = block_max(x, count);
        if (top > max) {
            max = top;
            best = begin;
        }
    }
    while (best + 1 < p->cols && tki_load_element(p->logits, row * p->cols + best, dtype) != max)
        best++;
    *place = best;
    return max;
}

TKI_INLINE row_sums sum_row(const tki_xent_params *p, int64_t row, int64_t target, tk_dtype dtype)
{
    int64_t max_at;
    float max = find_max(p, row, &max_at, dtype);
    float target_x = tki_load_element(p->logits, row * p->cols + target, dtype);
    if (target_x == max)
        max_at = target;
    float lowered_max = max * LOWER;
    float sum = 0.0f; /* without the maximum and the target */
    float lowered_sum_d = 0.0f;
    float x[BLOCK];
    float e[BLOCK];
    for (int64_t begin = 0; begin < p->cols; begin += BLOCK) {
        int count = smaller(p->cols - begin);
        tki_load_block(x, p->logits, row * p->cols + begin, count, dtype);
        for (int i = 0; i < count; i++)
            e[i] = tki_exp_nonpositive(x[i] - max);
        if (max_at >= begin && max_at < begin + count)
            e[max_at - begin] = 0.0f;
        if (target >= begin && target < begin + count)
            e[target - begin] = 0.0f;
        sum += block_sum(e, count);
        if (p->share_raised > 0) {
            for (int i = 0; i < count; i++)
                x[i] = lowered_max - x[i] * LOWER;
            lowered_sum_d += block_sum(x, count);
        }
    }
    bool target_is_max = max_at == target;
    return (row_sums){.max = max,
                      .rest = target_is_max ? sum : sum + tki_exp_nonpositive(target_x - max),
                      .others = target_is_max ? sum : sum + 1.0f,
                      .lowered_target_d = lowered_max - target_x * LOWER,
                      .lowered_sum_d = lowered_sum_d};
}

/* The order of the two additions matters to the promise: the target's term, which has most roundings, comes last.
 * Terms without weight are left out, since their factor may be infinite. */
TKI_INLINE float loss_of(const tki_xent_params *p, const row_sums *s)
{
    float loss = log1p_nonnegative(s->rest);
    if (p->share_raised > 0)
        loss += p->share_raised * s->lowered_sum_d;
    if (p->keep > 0)
        loss += p->keep * s->lowered_target_d * RAISE;
    return loss;
}

TKI_INLINE void fill_row(const tki_xent_params *p, int64_t row, float value, tk_dtype dtype)
{
    p->loss[row] = value;
    for (int64_t j = 0; j < p->cols; j++)
        tki_store_element(p->grad_logits, row * p->cols + j, value, dtype);
}

TKI_INLINE void run_row(const tki_xent_params *p, int64_t row, tk_dtype dtype)
{
    int64_t target = target_at(p, row);
    if (target == p->ignore_index) {
        fill_row(p, row, 0.0f, dtype);
        return;
    }
    row_sums s = sum_row(p, row, target, dtype);
    float z = 1.0f + s.rest;
    if (!__builtin_isfinite(s.max) || __builtin_isnan(z)) {
        fill_row(p, row, __builtin_nanf(""), dtype);
        return;
    }
    float inverse = 1.0f / z;
    float x[BLOCK];
    for (int64_t begin = 0; begin < p->cols; begin += BLOCK) {
        int count = smaller(p->cols - begin);
        tki_load_block(x, p->logits, row * p->cols + begin, count, dtype);
        for (int i = 0; i < count; i++)
            x[i] = p->scale * (tki_exp_nonpositive(x[i] - s.max) * inverse - p->share);
        if (target >= begin && target < begin + count)
            x[target - begin] = p->scale * (p->share_of_others - s.others * inverse);
        tki_store_block(p->grad_logits, row * p->cols + begin, count, x, dtype);
    }
    p->loss[row] = loss_of(p, &s);
}

TKI_INLINE void run(const tki_xent_params *p, int threads, tk_dtype dtype)
{
#pragma omp parallel for schedule(static) num_threads(threads) if (p->rows > 1 && p->rows * p->cols >= PARALLEL_FROM)
    for (int64_t row = 0; row < p->rows; row++)
        run_row(p, row, dtype);
}

static void run_f16(const tki_xent_params *p, int threads)
{
    run(p, threads, TK_F16);
}

static void run_bf16(const tki_xent_params *p, int threads)
{
    run(p, threads, TK_BF16);
}

static int64_t first_bad_target(const tki_xent_params *p, int64_t *value)
{
    for (int64_t row = 0; row < p->rows; row++) {
        *value = target_at(p, row);
        if (*value != p->ignore_index && (*value < 0 || *value >= p->cols))
            return row;
    }
    return -1;
}

const tki_xent_cpu TKI_ISA_TABLE(tki_xent_cpu) = {.first_bad_target = first_bad_target, .run = {run_f16, run_bf16}};
