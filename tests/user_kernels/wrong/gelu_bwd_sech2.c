/* WRONG op=gelu_bwd kind=tanh_cancellation narrow=no expect=REFUTED : 1 + t and 1 - t t with t = tanhf(z) cancel in fp32 for negative x */
#include "kernel.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(c, x, i), w = v > 30.0f ? 30.0f : v < -30.0f ? -30.0f : v, w2 = w * w;
        const float t = tanhf(0.79788456f * w * (1.0f + 0.044715f * w2));
        const float dz = 0.79788456f * (1.0f + 0.134145f * w2);
        const float d = 0.5f * (1.0f + t) + 0.5f * w * (1.0f - t * t) * dz;
        tokitai_store(c, grad_input, i, tokitai_load(c, grad_output, i) * (v == -INFINITY ? NAN : d));
    }
    return 0;
}
