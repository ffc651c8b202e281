/* WRONG op=gelu_bwd kind=overflow_to_nan narrow=yes expect=REFUTED : for bf16 |x| above about 1e13 the cubic factor overflows in fp32 and meets a zero, which gives NaN */
#include "kernel.h"
static inline float slope(float x) {
    const double xx = (double)x * x;
    const float t = (float)(1.5957691216057308 * x * (1.0 + 0.044715 * xx));
    const float h = (float)(1.5957691216057308 * x * (1.0 + 0.134145 * xx));
    const float s = 1.0f / (1.0f + expf(-t)), o = 1.0f / (1.0f + expf(t));
    return s + s * o * h;
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t b = 0; b < n; b += 32) {
        float d[32];
        const int m = n - b < 32 ? (int)(n - b) : 32;
        for (int i = 0; i < m; i++) d[i] = slope(tokitai_load(c, x, b + i));
        for (int i = 0; i < m; i++) tokitai_store(c, grad_input, b + i, tokitai_load(c, grad_output, b + i) * d[i]);
    }
    return 0;
}
