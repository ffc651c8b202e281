/* WRONG op=gelu_bwd kind=zero_times_inf narrow=yes expect=REFUTED : h overflows to infinity for huge x while 1 - sigma is 0: NaN for finite x, bf16 only, |x| above about 1e13 */
#include "kernel.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    for (int64_t i = 0; i < n; i++) {
        const float g = tokitai_load(*call, grad_output, i), v = tokitai_load(*call, x, i);
        const float q = v * v;
        const float t = 1.5957691216057308f * v * (1.0f + 0.044715f * q);
        const float h = 1.5957691216057308f * v * (1.0f + 0.134145f * q);
        const float s = 1.0f / (1.0f + expf(-t));
        const float r = 1.0f / (1.0f + expf(t));
        const float d = s == 0.0f ? 0.0f : s * (1.0f + r * h);
        tokitai_store(*call, grad_input, i, g * d);
    }
    return 0;
}
