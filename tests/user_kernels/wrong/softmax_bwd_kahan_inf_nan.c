/* WRONG op=softmax_bwd kind=kahan_inf_nan narrow=yes expect=REFUTED : compensated summation, whose correction is inf - inf = NaN after an infinite product: rows with infinite products of one sign are all NaN instead of infinities */
#include "elements.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        float s[4] = {0}, c[4] = {0};
        for (int64_t j = 0; j < cols; j++) {
            const int k = j & 3;
            const float term = ld1(y[j], bf) * ld1(g[j], bf) - c[k];
            const float t = s[k] + term;
            c[k] = (t - s[k]) - term;
            s[k] = t;
        }
        const float sum = ((s[0] - c[0]) + (s[1] - c[1])) + ((s[2] - c[2]) + (s[3] - c[3]));
        for (int64_t j = 0; j < cols; j++) o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - sum), bf);
    }
    return 0;
}
