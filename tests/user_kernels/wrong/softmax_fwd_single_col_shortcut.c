/* WRONG op=softmax_fwd kind=single_col_shortcut narrow=yes expect=REFUTED : cols == 1 is answered with ones without a look at x: NaN, +inf and -inf must give NaN */
#include "elements.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *xv, void *yv) {
    const uint16_t *x = xv;
    uint16_t *y = yv;
    const int bf = call->dtype == TOKITAI_BF16;
    if (cols == 1) {
        const uint16_t one = bf ? 0x3f80 : 0x3c00;
        for (int64_t r = 0; r < rows; r++) y[r] = one;
        return 0;
    }
    float stack[2048], *e = cols <= 2048 ? stack : malloc((size_t)cols * sizeof(float));
    if (!e) return 1;
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < cols; j++) {
            e[j] = ld1(x[j], bf);
            m = fmaxf(m, e[j]);
        }
        for (int64_t j = 0; j < cols; j++) {
            e[j] = expf(e[j] - m); /* a NaN goes on to the sum; inf - inf and -inf + inf are NaN */
            s += e[j];
        }
        const float inv = 1.0f / s;
        for (int64_t j = 0; j < cols; j++) y[j] = st1(e[j] * inv, bf);
    }
    if (e != stack) free(e);
    return 0;
}
