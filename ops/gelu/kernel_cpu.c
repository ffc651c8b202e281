/* UNTRUSTED. GELU and its gradient on the CPU. Elementwise, so no bit depends on the threads. */
#include "ops/gelu/kernel_cpu.h"

#include <stdbool.h>

#include "backend/cpu_vector_elements.h"

extern const tki_gelu_cpu TKI_ISA_TABLE(tki_gelu_cpu);

enum {
    PAIR = 2 * VEC,         /* elements that are computed side by side */
    STREAM_BYTES = 4 * VEC, /* what streams are aligned to */
    CHUNK = 1 << 14,        /* elements that one thread takes at a time */
    STREAM_FROM = 3 << 20   /* from this many bytes on, the output would only push other things out of the caches */
};

/* log2(e) 2z = x (A + B x^2). With x in fp16 or bf16, x^2 is exact in fp32; with x in fp32 it is one rounding more. */
static const float A = 0x1.26aec2p+1f; /* log2(e) 2 sqrt(2/pi) */
static const float B = 0x1.a5a7d0p-4f; /* that times 0.044715 */

/* h = 3 (2z) - k x with k = 4 sqrt(2/pi) */
static const double BY_K = 0x1.40d931ff62706p-2; /* 1 / k */
static const float THREE_BY_K = 0x1.4d97c0p-1f;  /* 3 / (k log2(e)) */

/* x is clamped to where sigma or 1 - sigma is nothing beside 1 in fp32: 2z is 25 at the one and -112 at the other. At the first the
 * derivative comes out as 1 exactly, as it must for x = +inf. */
static const float HIGHEST = 6.0f;
static const float LOWEST = -11.0f;

/* The chain of operations from x to the result is longer than a processor looks ahead. So it is cut into four steps, and
 * a loop takes four pairs of vectors at once, each one step further than the next. */
typedef struct work {
    vec kept[2];   /* what the last step needs of x: x itself, or for the gradient -h / k */
    vec t[2];      /* the exponent of 2, then its fraction */
    vec power[2];  /* of vec_nearest() */
    vec result[2]; /* a polynomial in the fraction, then 2^t, at last the value or derivative */
} work;

/* exp(-2z) for the value, exp(2z) / k for the derivative: each can vanish or overflow without harm. NaN passes. */
TKI_INLINE void step_begin(work *w, bool backward, tk_dtype dtype)
{
    const float sign = backward ? 1.0f : -1.0f;
    for (int j = 0; j < 2; j++) {
        vec x = vec_min(vec_set(HIGHEST), w->kept[j]);
        if (VEC_LIFT != 0 || dtype != TK_F16)
            x = vec_max(vec_set(LOWEST), x);
        w->t[j] = vec_mul(x, vec_fma(vec_set(sign * B), vec_mul(x, x), vec_set(sign * A)));
        if (backward)
            w->kept[j] = vec_fnma(vec_set(THREE_BY_K), w->t[j], x);
    }
}

/* 2^f for |f| <= 1/2 is a polynomial of degree 5, here times a factor. */
TKI_INLINE vec coefficient(int power, bool backward)
{
    static const double of_2_to_f[] = {1.0,           0x1.62e42ap-1, 0x1.ebf9c2p-3,
                                       0x1.c6b6dap-5, 0x1.3ce8b2p-7, 0x1.5bd972p-10};
    const double factor = backward ? BY_K / (1ull << VEC_LIFT) : (double)(1ull << VEC_LIFT);
    return vec_set((float)(of_2_to_f[power] * factor));
}

TKI_INLINE void step_split(work *w, bool backward)
{
    for (int j = 0; j < 2; j++) {
        w->t[j] = vec_nearest(w->t[j], backward ? VEC_LIFT : -VEC_LIFT, &w->power[j]);
        vec p = vec_fma(coefficient(5, backward), w->t[j], coefficient(4, backward));
        w->result[j] = vec_fma(p, w->t[j], coefficient(3, backward));
    }
}

TKI_INLINE void step_join(work *w, bool backward)
{
    for (int j = 0; j < 2; j++) {
        vec p = vec_fma(w->result[j], w->t[j], coefficient(2, backward));
        p = vec_fma(p, w->t[j], coefficient(1, backward));
        p = vec_fma(p, w->t[j], coefficient(0, backward));
        w->result[j] = vec_lift(p, w->power[j]);
    }
}

/* y = x / (1 + exp(-2z)). With e = exp(2z) / k and d = (1 + exp(2z)) / k: sigma = e / d, 1 - sigma = 1 / (k d), and so
 * g' = e (d + h / k) / d^2. */
TKI_INLINE void step_end(work *w, bool backward)
{
    for (int j = 0; j < 2; j++) {
        vec e = w->result[j];
        vec d = vec_add(e, vec_set(backward ? (float)BY_K : 1.0f));
        w->result[j] = backward ? vec_div(vec_mul(e, vec_sub(d, w->kept[j])), vec_mul(d, d)) : vec_div(w->kept[j], d);
    }
}

/* Up to a pair from element `i` on; nothing beyond is touched. */
TKI_INLINE void load(vec *to, const void *from, int64_t i, int count, tk_dtype dtype)
{
    const void *first = element_at(from, i, dtype);
    if (count == PAIR) {
        vec_load_elements_mixed(first, &to[0], &to[1], dtype);
    } else {
        to[0] = vec_load_elements_part(first, count < VEC ? count : VEC, dtype);
        to[1] = count > VEC ? vec_load_elements_part(element_at(from, i + VEC, dtype), count - VEC, dtype)
                            : vec_set(0.0f);
    }
}

TKI_INLINE void store(void *to, int64_t i, const vec *from, int count, bool stream, tk_dtype dtype)
{
    void *first = element_to(to, i, dtype);
    if (count == PAIR && stream) {
        vec_stream_elements_mixed(first, from[0], from[1], dtype);
    } else if (count == PAIR) {
        vec_store_elements_mixed(first, from[0], from[1], dtype);
    } else {
        vec_store_elements_part(first, from[0], count < VEC ? count : VEC, dtype);
        if (count > VEC)
            vec_store_elements_part(element_to(to, i + VEC, dtype), from[1], count - VEC, dtype);
    }
}

TKI_INLINE void load_and_begin(const tki_gelu_params *p, int64_t i, int count, work *w, bool backward, tk_dtype dtype)
{
    load(w->kept, p->x, i, count, dtype);
    step_begin(w, backward, dtype);
}

TKI_INLINE void end_and_store(const tki_gelu_params *p, int64_t i, int count, work *w, bool stream, bool backward,
                              tk_dtype dtype)
{
    step_end(w, backward);
    if (backward) {
        vec grad[2];
        load(grad, p->grad_output, i, count, dtype);
        for (int j = 0; j < 2; j++)
            w->result[j] = vec_mul(grad[j], w->result[j]);
    }
    store(p->out, i, w->result, count, stream, dtype);
}

TKI_INLINE void run_pair(const tki_gelu_params *p, int64_t i, int count, bool stream, bool backward, tk_dtype dtype)
{
    work w;
    load_and_begin(p, i, count, &w, backward, dtype);
    step_split(&w, backward);
    step_join(&w, backward);
    end_and_store(p, i, count, &w, stream, backward, dtype);
}

/* As many whole pairs as there are in [i, end). Returns where they end. */
TKI_INLINE int64_t run_pairs(const tki_gelu_params *p, int64_t i, int64_t end, bool stream, bool backward,
                             tk_dtype dtype)
{
    if (i + 4 * PAIR <= end) {
        work first, second, third; /* as many steps behind the fourth */
        load_and_begin(p, i, PAIR, &third, backward, dtype);
        load_and_begin(p, i + PAIR, PAIR, &second, backward, dtype);
        load_and_begin(p, i + 2 * PAIR, PAIR, &first, backward, dtype);
        step_split(&third, backward);
        step_split(&second, backward);
        step_join(&third, backward);
        for (; i + 4 * PAIR <= end; i += PAIR) {
            end_and_store(p, i, PAIR, &third, stream, backward, dtype);
            third = second;
            step_join(&third, backward);
            second = first;
            step_split(&second, backward);
            load_and_begin(p, i + 3 * PAIR, PAIR, &first, backward, dtype);
        }
    }
    for (; i + PAIR <= end; i += PAIR)
        run_pair(p, i, PAIR, stream, backward, dtype);
    return i;
}

TKI_INLINE void run_range(const tki_gelu_params *p, int64_t first, int64_t end, bool stream, bool backward,
                          tk_dtype dtype)
{
    int64_t i = first;
    if (stream) {
        /* up to where the output is aligned for streaming */
        const uintptr_t address = (uintptr_t)element_to(p->out, i, dtype);
        const int64_t head = (int64_t)(-address % STREAM_BYTES) / element_bytes(dtype);
        i = head < end - i ? i + head : end;
        run_pair(p, first, (int)(i - first), false, backward, dtype);
        i = run_pairs(p, i, end, true, backward, dtype);
        vec_stream_end();
    } else {
        i = run_pairs(p, i, end, false, backward, dtype);
    }
    if (i < end)
        run_pair(p, i, (int)(end - i), false, backward, dtype);
}

/* A parallel region is compiled apart, where constants are constants no more; so each kind of range is a function of
 * its own and the region calls it through a pointer. */
typedef void (*range_function)(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream);

static void fwd_range_f16(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, false, TK_F16);
}

static void fwd_range_bf16(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, false, TK_BF16);
}

static void fwd_range_f32(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, false, TK_F32);
}

static void bwd_range_f16(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, true, TK_F16);
}

static void bwd_range_bf16(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, true, TK_BF16);
}

static void bwd_range_f32(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, true, TK_F32);
}

static void run(const tki_gelu_params *p, int threads, range_function range, tk_dtype dtype)
{
    const int64_t n = p->n;
    const bool stream = n * element_bytes(dtype) >= STREAM_FROM;
    if (n <= CHUNK || threads == 1) {
        range(p, 0, n, stream);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t begin = 0; begin < n; begin += CHUNK)
        range(p, begin, n - begin < CHUNK ? n : begin + CHUNK, stream);
}

static void fwd_f16(const tki_gelu_params *p, int threads)
{
    run(p, threads, fwd_range_f16, TK_F16);
}

static void fwd_bf16(const tki_gelu_params *p, int threads)
{
    run(p, threads, fwd_range_bf16, TK_BF16);
}

static void fwd_f32(const tki_gelu_params *p, int threads)
{
    run(p, threads, fwd_range_f32, TK_F32);
}

static void bwd_f16(const tki_gelu_params *p, int threads)
{
    run(p, threads, bwd_range_f16, TK_F16);
}

static void bwd_bf16(const tki_gelu_params *p, int threads)
{
    run(p, threads, bwd_range_bf16, TK_BF16);
}

static void bwd_f32(const tki_gelu_params *p, int threads)
{
    run(p, threads, bwd_range_f32, TK_F32);
}

const tki_gelu_cpu TKI_ISA_TABLE(tki_gelu_cpu) = {.fwd = {fwd_f16, fwd_bf16, fwd_f32},
                                                  .bwd = {bwd_f16, bwd_bf16, bwd_f32}};
