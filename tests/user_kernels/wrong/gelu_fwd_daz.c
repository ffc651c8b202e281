/* WRONG op=gelu_fwd kind=flush_subnormals narrow=yes expect=REFUTED : denormals-are-zero is switched on for speed, so that bf16 subnormals (and results below 2^-126) become 0 */
#include "kernel.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
static float gelu(float x) {
    const double d = x;
    const double z2 = 1.5957691216057308 * d * (1.0 + 0.044715 * d * d);
    return x / (1.0f + (float)exp(-z2));
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const tokitai_call c = *call;
#if defined(__SSE2__)
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040); /* FTZ, DAZ */
#endif
    for (int64_t i = 0; i < n; i++) tokitai_store(c, y, i, gelu(tokitai_load(c, x, i)));
#if defined(__SSE2__)
    _mm_setcsr(saved);
#endif
    return 0;
}
