/* WRONG op=softmax_fwd kind=two_class_sigmoid narrow=yes expect=REFUTED : cols == 2 takes y0 = sigmoid(x0 - x1) and y1 = 1 - y0, which cancels: y1 is inexact where it is small, and 0 where it is below 2^-25 */
#include "elements.h"
static void generic(const uint16_t *x, uint16_t *y, int64_t n, int bf) {
    float m = -INFINITY, s = 0;
    for (int64_t j = 0; j < n; j++) m = fmaxf(m, ld1(x[j], bf));
    for (int64_t j = n - 1; j >= 0; j--) s += expf(ld1(x[j], bf) - m);
    for (int64_t j = 0; j < n; j++) y[j] = st1(expf(ld1(x[j], bf) - m) / s, bf);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *xv, void *yv) {
    const uint16_t *x = xv;
    uint16_t *y = yv;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        if (cols == 2 && isfinite(ld1(x[0], bf)) && isfinite(ld1(x[1], bf))) {
            const float p = 1.0f / (1.0f + expf(ld1(x[1], bf) - ld1(x[0], bf)));
            y[0] = st1(p, bf);
            y[1] = st1(1.0f - p, bf);
        } else generic(x, y, cols, bf);
    }
    return 0;
}
