/* WRONG op=gelu_bwd kind=one_minus_sigma narrow=yes expect=REFUTED : 1 - sigma is computed as written in fp32, which cancels for x from about 2 to 6 and is then multiplied by h: a few pairs in f16 there round to the wrong side */
#include "kernel.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    for (int64_t i = 0; i < n; i++) {
        const float g = tokitai_load(*call, grad_output, i), v = tokitai_load(*call, x, i);
        const float c = v > 16.0f ? 16.0f : v < -16.0f ? -16.0f : v;
        const float t = 1.5957691216057308f * c * (1.0f + 0.044715f * c * c);
        const float h = 1.5957691216057308f * c * (1.0f + 0.134145f * c * c);
        const float s = 1.0f / (1.0f + expf(-t));
        tokitai_store(*call, grad_input, i, g * (s * (1.0f + (1.0f - s) * h)));
    }
    return 0;
}
