/* WRONG op=gelu_bwd kind=zero_times_overflow narrow=yes expect=REFUTED : h overflows fp32 for bf16 |x| above about 2^43, and (1 - sigma) h becomes 0 times infinity, a NaN for finite inputs */
#include "kernel.h"
static float slope(float x) {
    const double d = x;
    const double z2 = 1.5957691216057308 * d * (1.0 + 0.044715 * d * d);
    const float sigma = (float)(1.0 / (1.0 + exp(-z2)));
    const float rest = (float)(1.0 / (1.0 + exp(z2)));
    const float x2 = x * x;
    const float h = 1.59576912161f * x * (1.0f + 0.134145f * x2);
    return sigma + sigma * rest * h;
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t i = 0; i < n; i++)
        tokitai_store(c, grad_input, i, tokitai_load(c, grad_output, i) * slope(tokitai_load(c, x, i)));
    return 0;
}
