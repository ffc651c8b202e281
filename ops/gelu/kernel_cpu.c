/* UNTRUSTED. GELU and its gradient on the CPU, in the sigma form: e = exp(-|2z|) never overflows, and sigma and
 * 1 - sigma come from it without cancellation on either side. Elementwise, so the bits do not depend on the threads. */
#include "ops/gelu/kernel_cpu.h"

#include "backend/cpu_math.h"

enum { BLOCK = 256, PARALLEL_FROM = 1 << 14 };

/* 2z = x (2c + 2ca x^2). With x in fp16 or bf16, x^2 is exact in fp32. */
static const float TWO_C = 0x1.988454p+0f;    /* 2 sqrt(2/pi) */
static const float TWO_C_A = 0x1.2444f2p-4f;  /* that times 0.044715 */
static const float TWO_C_3A = 0x1.b6676cp-3f; /* and three times that */
/* Beyond this, sigma is 0 or 1 in fp32; the clamp keeps x^2 and h finite. NaN passes through. */
static const float CLAMP = 15.0f;

typedef struct sigmoid {
    float sigma, one_minus_sigma;
} sigmoid;

TKI_INLINE float clamp(float x)
{
    float below = x > CLAMP ? CLAMP : x;
    return below < -CLAMP ? -CLAMP : below;
}

TKI_INLINE sigmoid sigmoid_of_2z(float clamped_x)
{
    float two_z = clamped_x * (TWO_C + TWO_C_A * (clamped_x * clamped_x));
    float e = tki_exp_nonpositive(two_z > 0 ? -two_z : two_z);
    float r = 1.0f / (1.0f + e);
    float er = e * r;
    return two_z > 0 ? (sigmoid){r, er} : (sigmoid){er, r};
}

TKI_INLINE void fwd(const tki_gelu_params *p, int threads, tk_dtype dtype)
{
#pragma omp parallel for schedule(static) num_threads(threads) if (p->n >= PARALLEL_FROM)
    for (int64_t begin = 0; begin < p->n; begin += BLOCK) {
        int count = p->n - begin < BLOCK ? (int)(p->n - begin) : BLOCK;
        float x[BLOCK];
        tki_load_block(x, p->x, begin, count, dtype);
        for (int i = 0; i < count; i++)
            x[i] = x[i] * sigmoid_of_2z(clamp(x[i])).sigma;
        tki_store_block(p->out, begin, count, x, dtype);
    }
}

TKI_INLINE void bwd(const tki_gelu_params *p, int threads, tk_dtype dtype)
{
#pragma omp parallel for schedule(static) num_threads(threads) if (p->n >= PARALLEL_FROM)
    for (int64_t begin = 0; begin < p->n; begin += BLOCK) {
        int count = p->n - begin < BLOCK ? (int)(p->n - begin) : BLOCK;
        float grad[BLOCK];
        float x[BLOCK];
        tki_load_block(grad, p->grad_output, begin, count, dtype);
        tki_load_block(x, p->x, begin, count, dtype);
        for (int i = 0; i < count; i++) {
            float xc = clamp(x[i]);
            sigmoid s = sigmoid_of_2z(xc);
            float h = xc * (TWO_C + TWO_C_3A * (xc * xc));
            grad[i] = grad[i] * (s.sigma + (s.sigma * s.one_minus_sigma) * h);
        }
        tki_store_block(p->out, begin, count, grad, dtype);
    }
}

static void fwd_f16(const tki_gelu_params *p, int threads)
{
    fwd(p, threads, TK_F16);
}

static void fwd_bf16(const tki_gelu_params *p, int threads)
{
    fwd(p, threads, TK_BF16);
}

static void bwd_f16(const tki_gelu_params *p, int threads)
{
    bwd(p, threads, TK_F16);
}

static void bwd_bf16(const tki_gelu_params *p, int threads)
{
    bwd(p, threads, TK_BF16);
}

const tki_gelu_cpu tki_gelu_cpu_scalar = {.fwd = {fwd_f16, fwd_bf16}, .bwd = {bwd_f16, bwd_bf16}};
