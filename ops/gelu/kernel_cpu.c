/* UNTRUSTED. GELU and its gradient on the CPU, in the sigma form: e = exp(-|2z|) never overflows, and sigma and
 * 1 - sigma come from it without cancellation on either side. Elementwise, so the bits do not depend on the threads. */
#include "ops/gelu/kernel_cpu.h"

#include <stdbool.h>

#include "backend/cpu_vector.h"

extern const tki_gelu_cpu TKI_ISA_TABLE(tki_gelu_cpu);

enum {
    CHUNK = 1 << 14,      /* elements that one thread takes at a time */
    STREAM_FROM = 3 << 20 /* from this many bytes on, the output would only push other things out of the caches */
};

/* 2z = x (2c + 2ca x^2). With x in fp16 or bf16, x^2 is exact in fp32. */
static const float TWO_C = 0x1.988454p+0f;    /* 2 sqrt(2/pi) */
static const float TWO_C_A = 0x1.2444f2p-4f;  /* that times 0.044715 */
static const float TWO_C_3A = 0x1.b6676cp-3f; /* and three times that */
/* Beyond this, sigma is 0 or 1 in fp32; the clamp keeps x^2 and h finite. NaN passes through. */
static const float CLAMP = 15.0f;

TKI_INLINE vec clamp(vec x)
{
    return vec_max(vec_set(-CLAMP), vec_min(vec_set(CLAMP), x));
}

TKI_INLINE vec value_of(vec x)
{
    vec xc = clamp(x);
    vec two_z = vec_mul(xc, vec_fma(vec_set(TWO_C_A), vec_mul(xc, xc), vec_set(TWO_C)));
    vec e = vec_exp_nonpositive(vec_minus_abs(two_z));
    vec top = vec_if_greater(two_z, vec_set(0.0f), vec_set(1.0f), e);
    return vec_mul(x, vec_div(top, vec_add(vec_set(1.0f), e)));
}

TKI_INLINE vec derivative_of(vec x)
{
    vec xc = clamp(x);
    vec square = vec_mul(xc, xc);
    vec two_z = vec_mul(xc, vec_fma(vec_set(TWO_C_A), square, vec_set(TWO_C)));
    vec h = vec_mul(xc, vec_fma(vec_set(TWO_C_3A), square, vec_set(TWO_C)));
    vec e = vec_exp_nonpositive(vec_minus_abs(two_z));
    vec r = vec_div(vec_set(1.0f), vec_add(vec_set(1.0f), e));
    vec er = vec_mul(e, r);
    vec sigma = vec_if_greater(two_z, vec_set(0.0f), r, er);
    return vec_fma(vec_mul(er, r), h, sigma);
}

TKI_INLINE vec result_of(vec grad_output, vec x, bool backward)
{
    return backward ? vec_mul(grad_output, derivative_of(x)) : value_of(x);
}

/* Elements [i, i + VEC); forward, grad_output is not there to be read. */
TKI_INLINE vec result_at(const tki_gelu_params *p, int64_t i, bool backward, tk_dtype dtype)
{
    vec x = vec_load16((const uint16_t *)p->x + i, dtype);
    return result_of(backward ? vec_load16((const uint16_t *)p->grad_output + i, dtype) : x, x, backward);
}

TKI_INLINE void store_part(const tki_gelu_params *p, int64_t i, int count, bool backward, tk_dtype dtype)
{
    vec x = vec_load16_part((const uint16_t *)p->x + i, count, dtype);
    vec grad = backward ? vec_load16_part((const uint16_t *)p->grad_output + i, count, dtype) : x;
    vec_store16_part((uint16_t *)p->out + i, result_of(grad, x, backward), count, dtype);
}

/* Elements before the output is aligned for streaming. */
TKI_INLINE int head_of(const uint16_t *out, int64_t count)
{
    int64_t head = (int64_t)((-(uintptr_t)out / sizeof *out) % VEC);
    return (int)(head < count ? head : count);
}

TKI_INLINE void run_range(const tki_gelu_params *p, int64_t begin, int64_t end, bool stream, bool backward,
                          tk_dtype dtype)
{
    uint16_t *out = p->out;
    int64_t i = begin;
    if (stream) {
        int head = head_of(out + i, end - i);
        if (head)
            store_part(p, i, head, backward, dtype);
        for (i += head; i + VEC <= end; i += VEC)
            vec_stream16(out + i, result_at(p, i, backward, dtype), dtype);
    } else {
        for (; i + VEC <= end; i += VEC)
            vec_store16(out + i, result_at(p, i, backward, dtype), dtype);
    }
    if (i < end)
        store_part(p, i, (int)(end - i), backward, dtype);
    if (stream)
        vec_stream_end();
}

/* A parallel region is compiled apart, where constants are constants no more; so each kind of range is a function of its own
 * and the region calls it through a pointer. */
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
