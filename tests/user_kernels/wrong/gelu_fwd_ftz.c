/* WRONG op=gelu_fwd kind=denormal_flush narrow=yes expect=REFUTED : denormals are switched off for speed, so that subnormal bf16 inputs give 0 */
#include <immintrin.h>
#include "kernel.h"
static inline float gelu(float x) {
    const double xx = (double)x * x;
    const float t = (float)(1.5957691216057308 * x * (1.0 + 0.044715 * xx));
    return x / (1.0f + expf(-t));
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const tokitai_call c = *call;
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040); /* FTZ and DAZ: subnormals cost a hundred cycles each */
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const float a = gelu(tokitai_load(c, x, i)), b = gelu(tokitai_load(c, x, i + 1));
        const float d = gelu(tokitai_load(c, x, i + 2)), e = gelu(tokitai_load(c, x, i + 3));
        tokitai_store(c, y, i, a);
        tokitai_store(c, y, i + 1, b);
        tokitai_store(c, y, i + 2, d);
        tokitai_store(c, y, i + 3, e);
    }
    for (; i < n; i++) tokitai_store(c, y, i, gelu(tokitai_load(c, x, i)));
    _mm_setcsr(saved);
    return 0;
}
