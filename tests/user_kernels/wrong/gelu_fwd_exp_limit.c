/* WRONG op=gelu_fwd kind=exp_clamp narrow=yes expect=REFUTED : the exponent is limited to 87 against overflow, so that bf16 inputs below about -11 give x exp(-87), which is too large */
#include "kernel.h"
static inline float gelu(float x) {
    const double xx = (double)x * x;
    const float t = (float)(-1.5957691216057308 * x * (1.0 + 0.044715 * xx));
    return x / (1.0f + expf(fminf(t, 87.0f))); /* expf must not overflow */
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    if (call->dtype == TOKITAI_F16) {
        for (int64_t i = 0; i < n; i++) {
            const float v = tokitai_from_f16(in[i]);
            out[i] = tokitai_to_f16(v < -60.0f ? -0.0f : gelu(v));
        }
        return 0;
    }
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_from_bf16(in[i]);
        out[i] = tokitai_to_bf16(v == -INFINITY ? NAN : gelu(v));
    }
    return 0;
}
