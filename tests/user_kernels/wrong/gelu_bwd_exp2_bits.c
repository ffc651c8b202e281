/* WRONG op=gelu_bwd kind=poly_out_of_range narrow=no expect=REFUTED : the power of two is put together from bits without a limit, which gives garbage for |x| above about 10 */
#include "kernel.h"
static inline float fast_exp(float t) {
    const float y = t * 1.44269504f, k = rintf(y);
    const double r = (double)t * 1.4426950408889634 - k, q = r * 0.69314718055994531;
    const double p = 1 + q * (1 + q * (0.5 + q * (1 / 6.0 +
                                                  q * (1 / 24.0 + q * (1 / 120.0 + q * (1 / 720.0 + q / 5040))))));
    union tokitai_float scale;
    scale.bits = (uint32_t)((int)k + 127) << 23;
    return (float)(p * scale.value);
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(c, x, i), w = v > 20.0f ? 20.0f : v < -20.0f ? -20.0f : v;
        const double ww = (double)w * w;
        const float t = (float)(1.5957691216057308 * w * (1.0 + 0.044715 * ww));
        const float h = (float)(1.5957691216057308 * w * (1.0 + 0.134145 * ww));
        const float s = 1.0f / (1.0f + fast_exp(-t)), o = 1.0f / (1.0f + fast_exp(t));
        tokitai_store(c, grad_input, i, tokitai_load(c, grad_output, i) * s * (1.0f + o * h));
    }
    return 0;
}
