/* RIGHT op=gelu_bwd kind=fp32 expect=HELD : both sigmoids in fp32 with one expf, the argument in double, back to front in blocks of 32 */
#include "kernel.h"
/* sigma and 1 - sigma from e = exp(-|t|), so that neither cancels. */
static inline float slope(float v) {
    if (v == -INFINITY) return NAN;
    const float x = v > 16.0f ? 16.0f : v < -16.0f ? -16.0f : v;
    const double xx = (double)x * x;
    const float t = (float)(1.5957691216057308 * x * (1.0 + 0.044715 * xx));
    const float h = (float)(1.5957691216057308 * x * (1.0 + 0.134145 * xx));
    const float e = expf(-fabsf(t)), d = 1.0f / (1.0f + e);
    const float s = t < 0 ? e * d : d, o = t < 0 ? d : e * d;
    return s * (1.0f + o * h);
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t end = n; end > 0; end -= 32) {
        const int64_t begin = end > 32 ? end - 32 : 0;
        float d[32];
        for (int64_t i = begin; i < end; i++) d[i - begin] = slope(tokitai_load(c, x, i));
        for (int64_t i = begin; i < end; i++)
            tokitai_store(c, grad_input, i, d[i - begin] * tokitai_load(c, grad_output, i));
    }
    return 0;
}
