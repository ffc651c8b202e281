/* RIGHT op=gelu_bwd kind=sigma expect=HELD : sigma (1 + (1 - sigma) h), clamped for the exponential and h alone */
#include "gelu.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i), g = tokitai_load(*call, grad_output, i);
        float o;
        const float s = sigma2z(v, &o), w = v > 15 ? 15 : v < -15 ? -15 : v;
        const float h = 1.5957691216f * w * (1 + 3 * 0.044715f * w * w);
        tokitai_store(*call, grad_input, i, g * (s + s * o * h));
    }
    return 0;
}
