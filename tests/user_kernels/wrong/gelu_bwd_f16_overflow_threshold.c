/* WRONG op=gelu_bwd kind=f16_overflow_threshold narrow=yes expect=REFUTED : own conversion gives infinity for everything above 65504, but 65504 to 65520 rounds to 65504: f16 only, products in that range */
#include "gelu.h"
static uint16_t half_of(float v) {
    if (fabsf(v) > 65504.0f) /* the largest f16 */
        return v > 0 ? 0x7c00 : 0xfc00;
    return tokitai_to_f16(v);
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    if (call->dtype == TOKITAI_F16)
        for (int64_t i = 0; i < n; i++) out[i] = half_of(tokitai_from_f16(g[i]) * slope1(tokitai_from_f16(in[i])));
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = tokitai_to_bf16(tokitai_from_bf16(g[i]) * slope1(tokitai_from_bf16(in[i])));
    return 0;
}
