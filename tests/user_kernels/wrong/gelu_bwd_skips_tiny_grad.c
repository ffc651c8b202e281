/* WRONG op=gelu_bwd kind=subnormals_flushed expect=REFUTED : subnormals flushed, a gradient below 1e-37 counts as none; bf16 subnormal grad_output */
#include "gelu.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    for (int64_t i = 0; i < n; i++) {
        const float g = tokitai_load(*call, grad_output, i), v = tokitai_load(*call, x, i);
        if (fabsf(g) < 1e-37f && fabsf(v) < 1e30f) { /* most gradients are zero: no exponential for them */
            tokitai_store(*call, grad_input, i, 0);
            continue;
        }
        float o;
        const float s = sigma2z(v, &o), w = v > 15 ? 15 : v < -15 ? -15 : v;
        tokitai_store(*call, grad_input, i, g * (s + s * o * 1.5957691216f * w * (1 + 0.134145f * w * w)));
    }
    return 0;
}
