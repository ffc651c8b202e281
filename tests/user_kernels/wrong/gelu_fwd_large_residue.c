/* WRONG op=gelu_fwd kind=residue_and_size narrow=yes expect=REFUTED : above 3000 elements the loop goes by 384, and with a rest of 383 its last element is taken from the one before */
#include "elements.h"
static float gelu_of(float x) {
    const double v = x;
    return (float)(v / (1 + exp(-2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v))));
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const int64_t step = 12 * 32, rest = n - n / step * step;
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i - (n / 3000 && rest + 1 == step && i == n - 1));
        tokitai_store(*call, y, i, isnan(v) ? v : v == -INFINITY ? -0.0f : gelu_of(v));
    }
    return 0;
}
