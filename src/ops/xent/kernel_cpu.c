/* UNTRUSTED. Cross-entropy on the CPU, a row at a time: maximum, sums, gradient. Z - 1 and N = Z - exp(-d_t) come as
 * sums without the element in question, never by subtraction, so that a confident row keeps its relative accuracy.
 * One thread computes a row, in an order of operations that is fixed by the number of columns, so its bits depend on
 * nothing else. A vector is read before it is overwritten and all else that the gradient needs is read before the
 * first store, so the gradient may lie over the logits. */
#include "ops/xent/kernel_cpu.h"

#include "kernels/cpu_vector_rows.h"

extern const tki_xent_cpu TKI_ISA_TABLE(tki_xent_cpu);

enum {
    KEPT = 1 << 18, /* rows up to this many columns keep their exponentials; longer ones compute them twice */
    CHUNK = 1 << 12,
    SEARCHED = 128, /* elements among which a maximum is looked for at a time */
    PARALLEL_FROM = 1 << 13,
    STREAM_FROM = 3 << 20 /* from this many bytes on, the gradient would only push other things out of the caches */
};

/* A difference of bf16 logits can exceed fp32's range, and so can a sum of them, where its weighted mean does not.
 * So the d_j are summed times 2^-64: what that takes from the smallest of them matters only where ln Z is near ln
 * cols. */
static const float LOWER = 0x1p-64f;
static const float RAISE = 0x1p64f;

/* Exponentials are those of row_exp() with the maximum as the origin: all that is made of them, Z too, comes times
 * 2^64. */
static const float UNIT = 0x1p64f;

typedef struct row_sums {
    float rest;   /* Z - 1: the sum without one maximum */
    float others; /* N: the sum without the target */
    float lowered_target_d;
    float lowered_sum_d;
} row_sums;

TKI_INLINE int64_t target_at(const tki_xent_params *p, int64_t row)
{
    return p->wide_target ? ((const int64_t *)p->target)[row] : ((const int32_t *)p->target)[row];
}

/* log(1 + r) for r >= 0, within a few u relative. 1 + r = 2^k (1 + f) with 1 + f near [sqrt(1/2), sqrt(2)): taking
 * 2^k out of r and 1 apart leaves f with a single rounding. log(1 + f) = 2 atanh(f / (2 + f)) by its series. */
TKI_INLINE float log1p_nonnegative(float r)
{
    const uint32_t sqrt_half = 0x3f3504f3;
    int32_t k = (int32_t)(tki_f32_bits(1.0f + r) - sqrt_half) >> 23;
    float power = tki_f32_from_bits((uint32_t)(127 - k) << 23);
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

/* Whether one of SEARCHED 16-bit patterns is this one. */
TKI_INLINE bool has_pattern(const uint16_t *x, uint16_t bits)
{
    uint16_t differs = 0xffff; /* stays so unless one is the same */
    for (int i = 0; i < SEARCHED; i++) {
        uint16_t difference = x[i] ^ bits;
        differs = difference < differs ? difference : differs;
    }
    return differs == 0;
}

/* The first place of a pattern that is there. */
TKI_INLINE int64_t place_of_pattern(uint16_t bits, const uint16_t *x, int64_t cols)
{
    int64_t begin = 0;
    for (; begin + SEARCHED <= cols; begin += SEARCHED)
        if (has_pattern(x + begin, bits))
            break;
    while (x[begin] != bits)
        begin++;
    return begin;
}

/* The first place of the greatest number, or 0 if there is none. */
TKI_INLINE int64_t place_of_greatest(float max, const float *x, int64_t cols)
{
    int64_t begin = 0;
    while (begin + SEARCHED <= cols && row_greatest_float(x + begin, SEARCHED) < max)
        begin += SEARCHED;
    while (begin < cols && x[begin] != max)
        begin++;
    return begin < cols ? begin : 0;
}

typedef struct row_places {
    int64_t max, target;
} row_places;

/* The maximum, and where it is: at the target, if that is one. In a row with a NaN it may be anything. */
TKI_INLINE float find_places(const void *x, int64_t cols, int64_t target, row_places *place, tk_dtype dtype)
{
    const uint16_t bits = dtype == TK_F32 ? 0 : row_greatest_pattern(x, cols);
    const float max = dtype == TK_F32 ? row_greatest_float(x, cols) : element_get(&bits, 0, dtype);
    *place = (row_places){target, target};
    if (element_get(x, target, dtype) != max)
        place->max = dtype == TK_F32 ? place_of_greatest(max, x, cols) : place_of_pattern(bits, x, cols);
    return max;
}

/* The sum of a block's e[0..count) in lanes; e is 0 beyond, to a whole vector. */
TKI_INLINE vec sum_block(const float *e, int count)
{
    vec chain[ROW_CHAINS];
    row_clear(chain);
    int i = 0;
    for (; i + ROW_STEP <= count; i += ROW_STEP)
        for (int j = 0; j < ROW_CHAINS; j++)
            chain[j] = vec_add(chain[j], vec_load(e + i + j * VEC));
    vec rest = vec_set(0.0f);
    for (; i < count; i += VEC)
        rest = vec_add(rest, vec_load(e + i));
    return vec_add(row_total(chain), rest);
}

/* The same without these places, if they are in the block. */
TKI_INLINE vec sum_block_without(float *e, int count, int64_t max, int64_t target)
{
    const bool has_max = max >= 0 && max < count;
    const bool has_target = target >= 0 && target < count;
    const float kept_max = has_max ? e[max] : 0.0f;
    const float kept_target = has_target ? e[target] : 0.0f;
    if (has_max)
        e[max] = 0.0f;
    if (has_target)
        e[target] = 0.0f;
    vec sum = sum_block(e, count);
    if (has_max)
        e[max] = kept_max;
    if (has_target)
        e[target] = kept_target;
    return sum;
}

/* The sum of a block's d_j times 2^-64, in lanes. */
TKI_INLINE vec sum_distances(const void *x, int count, vec lowered_max, tk_dtype dtype)
{
    const vec lower = vec_set(LOWER);
    vec chain[ROW_CHAINS];
    row_clear(chain);
    int i = 0;
    for (; i + ROW_STEP <= count; i += ROW_STEP)
        for (int j = 0; j < ROW_CHAINS; j++)
            chain[j] = vec_add(
                chain[j], vec_fnma(vec_load_elements(element_at(x, i + j * VEC, dtype), dtype), lower, lowered_max));
    vec rest = vec_set(0.0f);
    for (; i + VEC <= count; i += VEC)
        rest = vec_add(rest, vec_fnma(vec_load_elements(element_at(x, i, dtype), dtype), lower, lowered_max));
    if (i < count) {
        vec d = vec_fnma(vec_load_elements_part(element_at(x, i, dtype), count - i, dtype), lower, lowered_max);
        rest = vec_add(rest, vec_first_of(d, count - i, vec_set(0.0f)));
    }
    return vec_add(row_total(chain), rest);
}

TKI_INLINE float exp_at(float x, row_origin origin, tk_dtype dtype)
{
    return vec_sum(vec_first_of(row_exp(vec_set(x), origin, dtype), 1, vec_set(0.0f)));
}

TKI_INLINE row_sums sum_row(const tki_xent_params *p, const void *x, row_places place, float max, row_origin origin,
                            const void *next, float *e, tk_dtype dtype)
{
    const bool keeps = p->cols <= KEPT;
    const float lowered_max = max * LOWER;
    vec sum = vec_set(0.0f); /* without the maximum and the target */
    vec distances = vec_set(0.0f);
    for (int64_t begin = 0; begin < p->cols; begin += ROW_BLOCK) {
        float *block = keeps ? e + begin : e;
        const void *from = element_at(x, begin, dtype);
        const void *ahead = keeps ? element_at(next, begin, dtype) : from;
        const bool whole = begin + ROW_BLOCK <= p->cols;
        int count = whole ? ROW_BLOCK : (int)(p->cols - begin);
        vec of_block = whole ? row_exp_block(block, from, ROW_BLOCK, origin, ahead, dtype)
                             : row_exp_block(block, from, count, origin, ahead, dtype);
        if ((place.max >= begin && place.max < begin + count) ||
            (place.target >= begin && place.target < begin + count))
            of_block = sum_block_without(block, count, place.max - begin, place.target - begin);
        sum = vec_add(sum, of_block);
        if (p->share_raised > 0)
            distances = vec_add(distances, sum_distances(from, count, vec_set(lowered_max), dtype));
    }
    const float common = vec_sum(sum);
    const bool target_is_max = place.max == place.target;
    const float x_target = element_get(x, place.target, dtype);
    return (row_sums){.rest = target_is_max ? common : common + exp_at(x_target, origin, dtype),
                      .others = target_is_max ? common : common + UNIT,
                      .lowered_target_d = lowered_max - x_target * LOWER,
                      .lowered_sum_d = vec_sum(distances)};
}

/* The order of the two additions matters to the promise: the target's term, which has most roundings, comes last.
 * Terms without weight are left out, since their factor may be infinite. */
TKI_INLINE float loss_of(const tki_xent_params *p, const row_sums *s)
{
    float loss = log1p_nonnegative(s->rest / UNIT);
    if (p->share_raised > 0)
        loss += p->share_raised * s->lowered_sum_d;
    if (p->keep > 0)
        loss += p->keep * s->lowered_target_d * RAISE;
    return loss;
}

TKI_INLINE void fill_row(void *gradient, int64_t cols, float value, tk_dtype dtype)
{
    for (int64_t j = 0; j < cols; j++)
        element_put(gradient, j, value, dtype);
}

/* scale (e inverse - share) */
typedef struct row_factors {
    vec inverse, share, scale;
} row_factors;

TKI_INLINE vec gradient_at(const float *e, row_factors f)
{
    return vec_mul(f.scale, vec_sub(vec_mul(vec_load(e), f.inverse), f.share));
}

/* Fewer than two vectors, from an element on. */
TKI_INLINE void differentiate_part(void *gradient, const float *e, int64_t i, int64_t count, row_factors f,
                                   tk_dtype dtype)
{
    if (count >= VEC)
        vec_store_elements(element_to(gradient, i, dtype), gradient_at(e + i, f), dtype);
    int64_t done = count >= VEC ? VEC : 0;
    if (done < count)
        vec_store_elements_part(element_to(gradient, i + done, dtype), gradient_at(e + i + done, f),
                                (int)(count - done), dtype);
}

TKI_INLINE void differentiate(void *gradient, const float *e, int64_t cols, row_factors f, bool stream,
                              tk_dtype dtype)
{
    int64_t i = 0;
    if (stream) {
        i = row_head(gradient, cols, dtype);
        differentiate_part(gradient, e, 0, i, f, dtype);
        for (; i + ROW_PAIR <= cols; i += ROW_PAIR)
            vec_stream_elements_pair(element_to(gradient, i, dtype), gradient_at(e + i, f),
                                     gradient_at(e + i + VEC, f), dtype);
    } else {
        for (; i + ROW_PAIR <= cols; i += ROW_PAIR)
            vec_store_elements_pair(element_to(gradient, i, dtype), gradient_at(e + i, f),
                                    gradient_at(e + i + VEC, f), dtype);
    }
    differentiate_part(gradient, e, i, cols - i, f, dtype);
}

/* Where the cache line of an element begins; it may be before the row. */
TKI_INLINE int64_t line_of(const void *gradient, int64_t place, tk_dtype dtype)
{
    const uintptr_t address = (uintptr_t)element_at(gradient, place, dtype);
    return place - (int64_t)(address / (uintptr_t)element_bytes(dtype) % (uintptr_t)row_line(dtype));
}

/* The line of the target, when it is streamed: put together aside, since an element cannot be overwritten in what was
 * streamed without waiting for the memory. */
TKI_INLINE void stream_line(void *line, const float *e, row_factors f, int64_t target, float of_target,
                            tk_dtype dtype)
{
    char aside[ROW_LINE_BYTES] __attribute__((aligned(ROW_LINE_BYTES)));
    differentiate(aside, e, row_line(dtype), f, false, dtype);
    element_put(aside, target, of_target, dtype);
    for (int i = 0; i < ROW_LINE_BYTES; i += VEC * (int)sizeof(float))
        vec_stream_copy((char *)line + i, aside + i);
}

TKI_INLINE void store_gradient(const tki_xent_params *p, const void *x, void *gradient, row_factors f,
                               row_origin origin, int64_t target, float of_target, float *e, bool stream,
                               tk_dtype dtype)
{
    if (p->cols <= KEPT && stream) {
        const int64_t line = line_of(gradient, target, dtype);
        const int64_t after = line + row_line(dtype);
        if (line >= 0 && after <= p->cols) {
            differentiate(gradient, e, line, f, true, dtype);
            stream_line(element_to(gradient, line, dtype), e + line, f, target - line, of_target, dtype);
            differentiate(element_to(gradient, after, dtype), e + after, p->cols - after, f, true, dtype);
            return;
        }
    }
    if (p->cols <= KEPT) {
        differentiate(gradient, e, p->cols, f, stream, dtype);
    } else {
        for (int64_t begin = 0; begin < p->cols; begin += CHUNK) {
            int64_t count = p->cols - begin < CHUNK ? p->cols - begin : CHUNK;
            const void *chunk = element_at(x, begin, dtype);
            row_exp_blocks(e, chunk, count, origin, chunk, dtype);
            differentiate(element_to(gradient, begin, dtype), e, count, f, stream, dtype);
        }
    }
    element_put(gradient, target, of_target, dtype);
}

TKI_INLINE void run_row(const tki_xent_params *p, int64_t row, const void *next, float *e, bool stream,
                        tk_dtype dtype)
{
    const void *x = element_at(p->logits, row * p->cols, dtype);
    void *gradient = element_to(p->grad_logits, row * p->cols, dtype);
    int64_t target = target_at(p, row);
    if (target == p->ignore_index) {
        p->loss[row] = 0.0f;
        fill_row(gradient, p->cols, 0.0f, dtype);
        return;
    }
    row_places place;
    float max = find_places(x, p->cols, target, &place, dtype);
    row_origin origin = row_origin_at(max, false); /* so that equal logits get equal shares, exactly */
    row_sums s = sum_row(p, x, place, max, origin, next, e, dtype);
    float z = UNIT + s.rest;
    if (!__builtin_isfinite(max) || __builtin_isnan(z)) {
        p->loss[row] = __builtin_nanf("");
        fill_row(gradient, p->cols, __builtin_nanf(""), dtype);
        return;
    }
    float inverse = 1.0f / z;
    p->loss[row] = loss_of(p, &s);
    row_factors f = {vec_set(inverse), vec_set(p->share), vec_set(p->scale)};
    float of_target = p->scale * (p->share_of_others - s.others * inverse);
    store_gradient(p, x, gradient, f, origin, target, of_target, e, stream, dtype);
}

/* Where the gradient lies over the logits, its lines are in the caches already. */
TKI_INLINE void run_rows(const tki_xent_params *p, int64_t begin, int64_t end, float *e, tk_dtype dtype)
{
    const bool stream = p->grad_logits != p->logits && p->rows * p->cols * element_bytes(dtype) >= STREAM_FROM;
    for (int64_t row = begin; row < end; row++) {
        const void *next = element_at(p->logits, (row + 1 < end ? row + 1 : row) * p->cols, dtype);
        run_row(p, row, next, e, stream, dtype);
    }
    if (stream)
        vec_stream_end();
}

/* A parallel region is compiled apart, where constants are constants no more; so each kind of row is a function of
 * its own and the region calls it through a pointer. */
typedef void (*rows_function)(const tki_xent_params *p, int64_t begin, int64_t end, float *e);

static void run_rows_f16(const tki_xent_params *p, int64_t begin, int64_t end, float *e)
{
    run_rows(p, begin, end, e, TK_F16);
}

static void run_rows_bf16(const tki_xent_params *p, int64_t begin, int64_t end, float *e)
{
    run_rows(p, begin, end, e, TK_BF16);
}

static void run_rows_f32(const tki_xent_params *p, int64_t begin, int64_t end, float *e)
{
    run_rows(p, begin, end, e, TK_F32);
}

/* Floats of scratch that each thread has; a partial vector that begins anywhere is loaded whole, so there are more.
 * */
static int64_t kept_floats(int64_t cols)
{
    return (cols <= KEPT ? (cols + ROW_BLOCK - 1) / ROW_BLOCK * ROW_BLOCK : CHUNK) + ROW_BLOCK;
}

static size_t scratch_bytes(int64_t cols, int threads)
{
    return (size_t)kept_floats(cols) * sizeof(float) * (size_t)threads;
}

static void run(const tki_xent_params *p, float *scratch, int threads, rows_function rows)
{
    if (threads == 1 || p->rows <= 1 || p->rows * p->cols < PARALLEL_FROM) {
        rows(p, 0, p->rows, scratch);
        return;
    }
    const int64_t kept = kept_floats(p->cols);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int part = 0; part < threads; part++)
        rows(p, row_first_of_part(p->rows, part, threads), row_first_of_part(p->rows, part + 1, threads),
             scratch + kept * part);
}

static void run_f16(const tki_xent_params *p, void *scratch, int threads)
{
    run(p, scratch, threads, run_rows_f16);
}

static void run_bf16(const tki_xent_params *p, void *scratch, int threads)
{
    run(p, scratch, threads, run_rows_bf16);
}

static void run_f32(const tki_xent_params *p, void *scratch, int threads)
{
    run(p, scratch, threads, run_rows_f32);
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

const tki_xent_cpu TKI_ISA_TABLE(tki_xent_cpu) = {
    .first_bad_target = first_bad_target, .run = {run_f16, run_bf16, run_f32}, .scratch_bytes = scratch_bytes};
