/* UNTRUSTED. GELU and its gradient on the CPU. With e = exp(-2z), sigma = 1 / (1 + e) and 1 - sigma = e sigma:
 * neither cancels, and x is clamped to where e stays normal. Elementwise, so no bit depends on the threads. */
#include "ops/gelu/kernel_cpu.h"

#include <stdbool.h>

#include "backend/cpu_vector.h"

extern const tki_gelu_cpu TKI_ISA_TABLE(tki_gelu_cpu);

enum {
    CHUNK = 1 << 14,      /* elements that one thread takes at a time */
    STREAM_FROM = 3 << 20 /* from this many bytes on, the output would only push other things out of the caches */
};

/* log2(e) 2z = x (A + B x^2), and h = x (2c + 6ca x^2). With x in fp16 or bf16, x^2 is exact in fp32. */
static const float A = 0x1.26aec2p+1f;       /* log2(e) 2 sqrt(2/pi) */
static const float B = 0x1.a5a7d0p-4f;       /* that times 0.044715 */
static const float TWO_C = 0x1.988454p+0f;   /* 2 sqrt(2/pi) */
static const float SIX_C_A = 0x1.b6676cp-3f; /* that times three times 0.044715 */

/* From HIGHEST on, sigma is 1 in fp32. At LOWEST it is above 2^-126. What is left below counts as zero, within the
 * bound: at once in the value; in the derivative from VANISHED on, because its sign matters to an infinite gradient
 * for as long as it is above 2^-126. */
static const float HIGHEST = 8.0f;
static const float LOWEST = -10.0f;
static const float VANISHED = -10.5f;

/* NaN passes through. */
TKI_INLINE vec clamp(vec x)
{
    return vec_min(vec_set(HIGHEST), vec_max(vec_set(LOWEST), x));
}

/* 2^t for |t| < 127, within 3u */
TKI_INLINE vec power_of_two(vec t)
{
    vec n = vec_round(t);
    vec f = vec_sub(t, n);
    vec p = vec_set(0x1.5bd972p-10f);
    p = vec_fma(p, f, vec_set(0x1.3ce8b2p-7f));
    p = vec_fma(p, f, vec_set(0x1.c6b6dap-5f));
    p = vec_fma(p, f, vec_set(0x1.ebf9c2p-3f));
    p = vec_fma(p, f, vec_set(0x1.62e42ap-1f));
    return vec_scale_normal(vec_fma(p, f, vec_set(1.0f)), n);
}

/* exp(-2z) for a clamped x */
TKI_INLINE vec exp_minus_two_z(vec x, vec square)
{
    return power_of_two(vec_mul(x, vec_fma(vec_set(-B), square, vec_set(-A))));
}

TKI_INLINE vec value_of(vec x)
{
    vec xc = clamp(x);
    vec e = exp_minus_two_z(xc, vec_mul(xc, xc));
    return vec_div(vec_if_greater(vec_set(LOWEST), x, vec_set(0.0f), x), vec_add(vec_set(1.0f), e));
}

TKI_INLINE vec derivative_of(vec x)
{
    vec xc = clamp(x);
    vec square = vec_mul(xc, xc);
    vec e = exp_minus_two_z(xc, square);
    vec h = vec_mul(xc, vec_fma(vec_set(SIX_C_A), square, vec_set(TWO_C)));
    vec sigma = vec_div(vec_set(1.0f), vec_add(vec_set(1.0f), e));
    vec derivative = vec_fma(vec_mul(vec_mul(e, sigma), h), sigma, sigma);
    return vec_if_greater(vec_set(VANISHED), x, vec_set(0.0f), derivative);
}

TKI_INLINE vec result_of(vec grad_output, vec x, bool backward)
{
    return backward ? vec_mul(grad_output, derivative_of(x)) : value_of(x);
}

/* Elements [i, i + 2 VEC); forward, grad_output is not there to be read. */
TKI_INLINE void run_pair(const tki_gelu_params *p, int64_t i, bool stream, bool backward, tk_dtype dtype)
{
    uint16_t *out = (uint16_t *)p->out + i;
    vec x[2], grad[2] = {vec_set(0.0f), vec_set(0.0f)};
    vec_load16_pair((const uint16_t *)p->x + i, &x[0], &x[1], dtype);
    if (backward)
        vec_load16_pair((const uint16_t *)p->grad_output + i, &grad[0], &grad[1], dtype);
    vec first = result_of(grad[0], x[0], backward);
    vec second = result_of(grad[1], x[1], backward);
    if (stream)
        vec_stream16_pair(out, first, second, dtype);
    else
        vec_store16_pair(out, first, second, dtype);
}

TKI_INLINE void run_part(const tki_gelu_params *p, int64_t i, int count, bool backward, tk_dtype dtype)
{
    vec x = vec_load16_part((const uint16_t *)p->x + i, count, dtype);
    vec grad = backward ? vec_load16_part((const uint16_t *)p->grad_output + i, count, dtype) : x;
    vec_store16_part((uint16_t *)p->out + i, result_of(grad, x, backward), count, dtype);
}

/* Less than 2 VEC elements. */
TKI_INLINE void run_few(const tki_gelu_params *p, int64_t i, int64_t end, bool backward, tk_dtype dtype)
{
    for (; i < end; i += VEC)
        run_part(p, i, end - i < VEC ? (int)(end - i) : VEC, backward, dtype);
}

TKI_INLINE void run_range(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream, bool backward,
                          tk_dtype dtype)
{
    int64_t i = begin;
    if (stream) {
        /* up to where the output is aligned for streaming */
        const uintptr_t address = (uintptr_t)((uint16_t *)p->out + i);
        const int64_t head = (int64_t)(-address / sizeof(uint16_t) % (2 * VEC));
        i = head < end - i ? i + head : end;
        run_few(p, begin, i, backward, dtype);
        for (; i + 2 * VEC <= end; i += 2 * VEC)
            run_pair(p, i, true, backward, dtype);
        vec_stream_end();
    }
    for (; i + 2 * VEC <= end; i += 2 * VEC)
        run_pair(p, i, false, backward, dtype);
    run_few(p, i, end, backward, dtype);
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

static void bwd_range_f16(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, true, TK_F16);
}

static void bwd_range_bf16(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream)
{
    run_range(p, begin, end, stream, true, TK_BF16);
}

static void run(const tki_gelu_params *p, int threads, range_function range)
{
    const int64_t n = p->n;
    const bool stream = n * (int64_t)sizeof(uint16_t) >= STREAM_FROM;
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
    run(p, threads, fwd_range_f16);
}

static void fwd_bf16(const tki_gelu_params *p, int threads)
{
    run(p, threads, fwd_range_bf16);
}

static void bwd_f16(const tki_gelu_params *p, int threads)
{
    run(p, threads, bwd_range_f16);
}

static void bwd_bf16(const tki_gelu_params *p, int threads)
{
    run(p, threads, bwd_range_bf16);
}

const tki_gelu_cpu TKI_ISA_TABLE(tki_gelu_cpu) = {.fwd = {fwd_f16, fwd_bf16}, .bwd = {bwd_f16, bwd_bf16}};
