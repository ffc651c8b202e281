/* WRONG op=gelu_bwd kind=exp_reduction_trunc narrow=no expect=REFUTED : exp reduces by (int)(t log2 e + 0.5), which rounds negative numbers the wrong way, so r leaves the polynomial's range and errors reach 1e-5 */
#include "kernel.h"
static float fast_exp(float t) {
    if (!(t > -100.0f)) return t != t ? t : 0.0f;
    if (t > 88.7f) return INFINITY;
    const int k = (int)(t * 1.44269504f + 0.5f);
    float r = t - (float)k * 0.693359375f;
    r += (float)k * 2.12194440e-4f;
    float p = 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return ldexpf(p, k);
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    for (int64_t i = 0; i < n; i++) {
        const float g = tokitai_load(*call, grad_output, i), v = tokitai_load(*call, x, i);
        const float c = v > 16.0f ? 16.0f : v < -16.0f ? -16.0f : v;
        const float t = 1.5957691216057308f * c * (1.0f + 0.044715f * c * c);
        const float h = 1.5957691216057308f * c * (1.0f + 0.134145f * c * c);
        const float s = 1.0f / (1.0f + fast_exp(-t)), r = 1.0f / (1.0f + fast_exp(t));
        tokitai_store(*call, grad_input, i, g * (s * (1.0f + r * h)));
    }
    return 0;
}
