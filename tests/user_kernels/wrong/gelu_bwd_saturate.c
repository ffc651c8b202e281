/* WRONG op=gelu_bwd kind=saturating narrow=yes expect=REFUTED : f16 results from 65520 on become 65504 and not infinity */
#include "gelu.h"
static inline uint16_t narrow(float v) {
    if (v > 65504.0f) v = 65504.0f;
    if (v < -65504.0f) v = -65504.0f;
    return tokitai_to_f16(v);
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    if (call->dtype == TOKITAI_F16) {
        for (int64_t i = 0; i < n; i++) out[i] = narrow(tokitai_from_f16(g[i]) * dgelu(tokitai_from_f16(in[i])));
        return 0;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = tokitai_to_bf16(tokitai_from_bf16(g[i]) * dgelu(tokitai_from_bf16(in[i])));
    return 0;
}
