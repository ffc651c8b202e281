/* WRONG op=gelu_bwd kind=overflow_of_an_intermediate expect=REFUTED : overflow of an intermediate, h is infinite and 1 - sigma zero: NaN; bf16 with |x| above 2^42 or so */
#include "kernel.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i), g = tokitai_load(*call, grad_output, i);
        const float t = 1.5957691216f * (v + 0.044715f * v * v * v), e = expf(-fabsf(t));
        const float s = t > 0 ? 1 / (1 + e) : e / (1 + e), o = t > 0 ? e / (1 + e) : 1 / (1 + e);
        const float h = 1.5957691216f * v * (1 + 0.134145f * v * v);
        tokitai_store(*call, grad_input, i, g * (s + s * o * h));
    }
    return 0;
}
