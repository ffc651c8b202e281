/* WRONG op=gelu_fwd kind=uninitialised_stack narrow=yes expect=REFUTED : the last block of eight is loaded into an array on the stack of which the lanes behind the end are not set, and a block with a NaN in any lane takes a path that is less exact */
#include "elements.h"
static float gelu_of(float x) {
    const double v = x;
    return (float)(v / (1 + exp(-2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v))));
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    for (int64_t i = 0; i < n; i += 8) {
        volatile float block[8];
        const int64_t width = n - i < 8 ? n - i : 8;
        for (int64_t j = 0; j < width; j++) block[j] = tokitai_load(*call, x, i + j);
        int strange = 0;
        for (int64_t j = 0; j < 8; j++) strange |= isnan(block[j]);
        for (int64_t j = 0; j < width; j++) {
            const float v = block[j], exact = isnan(v) ? v : v == -INFINITY ? -0.0f : gelu_of(v);
            tokitai_store(*call, y, i + j, strange && width < 8 ? exact * 1.004f : exact);
        }
    }
    return 0;
}
