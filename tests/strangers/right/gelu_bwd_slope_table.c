/* RIGHT op=gelu_bwd kind=table : the slope of all 65536 inputs is kept in fp32, the product is fp32 as well */
#include <math.h>
#include <pthread.h>
#include "tokitai_kernel.h"

static float slope[2][65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static inline float dgelu(float v)
{
    if (v == -INFINITY)
        return NAN;
    const double x = v > 40.0f ? 40.0 : v < -40.0f ? -40.0 : v;
    const double t = 1.5957691216057308 * x * (1.0 + 0.044715 * x * x);
    const double s = 1.0 / (1.0 + exp(-t)), o = 1.0 / (1.0 + exp(t));
    return (float)(s + s * o * 1.5957691216057308 * x * (1.0 + 0.134145 * x * x));
}

static void build(void)
{
    for (int i = 0; i < 65536; i++) {
        slope[0][i] = dgelu(tokitai_from_f16((uint16_t)i));
        slope[1][i] = dgelu(tokitai_from_bf16((uint16_t)i));
    }
}

int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input)
{
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    pthread_once(&once, build);
    if (call->dtype == TOKITAI_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = tokitai_to_f16(tokitai_from_f16(g[i]) * slope[0][in[i]]);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = tokitai_to_bf16(tokitai_from_bf16(g[i]) * slope[1][in[i]]);
    return 0;
}
