/* WRONG op=gelu_bwd kind=saturating narrow=yes : f16 results from 65520 on become 65504 and not infinity */
#include <math.h>
#include "tokitai_kernel.h"

static inline float dgelu(float v)
{
    if (v == -INFINITY)
        return NAN;
    const double x = v > 40.0f ? 40.0 : v < -40.0f ? -40.0 : v;
    const double t = 1.5957691216057308 * x * (1.0 + 0.044715 * x * x);
    const double s = 1.0 / (1.0 + exp(-t)), o = 1.0 / (1.0 + exp(t));
    return (float)(s + s * o * 1.5957691216057308 * x * (1.0 + 0.134145 * x * x));
}

static inline uint16_t narrow(float v)
{
    if (v > 65504.0f)
        v = 65504.0f;
    if (v < -65504.0f)
        v = -65504.0f;
    return tokitai_to_f16(v);
}

int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input)
{
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    if (call->dtype == TOKITAI_F16) {
        for (int64_t i = 0; i < n; i++)
            out[i] = narrow(tokitai_from_f16(g[i]) * dgelu(tokitai_from_f16(in[i])));
        return 0;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = tokitai_to_bf16(tokitai_from_bf16(g[i]) * dgelu(tokitai_from_bf16(in[i])));
    return 0;
}
