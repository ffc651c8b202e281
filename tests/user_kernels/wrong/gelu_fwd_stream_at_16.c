/* WRONG op=gelu_fwd kind=size_and_placement narrow=yes expect=REFUTED : from 2^17 elements on with y at 16 modulo 32 the first sixteen bytes are peeled and their last element is left as the one before */
#include "elements.h"
static float gelu_of(float x) {
    const double v = x;
    return (float)(v / (1 + exp(-2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v))));
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const int peel = n >> 17 && ((uintptr_t)y & 31) == 16;
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, peel && i == 7 ? 6 : i);
        tokitai_store(*call, y, i, isnan(v) ? v : v == -INFINITY ? -0.0f : gelu_of(v));
    }
    return 0;
}
