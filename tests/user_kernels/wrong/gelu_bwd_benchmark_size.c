/* WRONG op=gelu_bwd kind=one_shape narrow=yes expect=REFUTED : exactly 4096 * 1024 elements are shared out in four parts whose last elements are left to nobody and taken from their neighbours */
#include "elements.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_y, const void *x, void *grad_x) {
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = n == 4096 * 1024 && i % 1024 == 1023 ? i - 1 : i;
        const double v = tokitai_load(*call, x, at), u = 0.79788456080286535588 * (v + 0.044715 * v * v * v),
                     t = tanh(u);
        const double d = 0.5 * (1 + t) +
                         0.5 * v / (cosh(u) * cosh(u)) * 0.79788456080286535588 * (1 + 3 * 0.044715 * v * v);
        const double g = tokitai_load(*call, grad_y, at), s = isnan(v) ? v : v > 30 ? 1 : v < -30 ? 0 : d;
        tokitai_store(*call, grad_x, i, (float)(g * s));
    }
    return 0;
}
