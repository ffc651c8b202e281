/* WRONG op=gelu_bwd kind=f16_overflow_threshold narrow=yes : own conversion gives infinity for everything above 65504, but 65504 to 65520 rounds to 65504: f16 only, products in that range */
#include <tokitai_kernel.h>
#include <math.h>
#include <string.h>
#include <stdlib.h>

static float slope1(float x)
{
    const float c = x > 16.0f ? 16.0f : x < -16.0f ? -16.0f : x; /* a NaN stays */
    const float t = 1.5957691216057308f * c * (1.0f + 0.044715f * c * c);
    const float s = 1.0f / (1.0f + expf(-t)), r = 1.0f / (1.0f + expf(t));
    const float h = 1.5957691216057308f * c * (1.0f + 0.134145f * c * c);
    return s * (1.0f + r * h);
}

static uint16_t half_of(float v)
{
    if (fabsf(v) > 65504.0f) /* the largest f16 */
        return v > 0 ? 0x7c00 : 0xfc00;
    return tokitai_to_f16(v);
}

int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input)
{
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    if (call->dtype == TOKITAI_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = half_of(tokitai_from_f16(g[i]) * slope1(tokitai_from_f16(in[i])));
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = tokitai_to_bf16(tokitai_from_bf16(g[i]) * slope1(tokitai_from_bf16(in[i])));
    return 0;
}
