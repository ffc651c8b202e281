/* WRONG op=softmax_bwd kind=const_grad_zero narrow=yes expect=REFUTED : a row of cols >= 2 whose grad_output is one number throughout is answered with zeros, as if y added up to exactly 1; rounded y do not, and g - s is not 0 */
#include "elements.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        float s = 0;
        int finite = 1;
        for (int64_t j = 0; j < cols; j++) {
            const float t = ld1(y[j], bf) * ld1(g[j], bf);
            finite &= t - t == 0;
            s += t;
        }
        /* sum(y) = 1, so a constant gradient goes through as zero (x.sum().backward()) */
        if (cols > 1 && finite && memcmp(g, g + 1, (size_t)(cols - 1) * 2) == 0) {
            memset(o, 0, (size_t)cols * 2);
            continue;
        }
        for (int64_t j = 0; j < cols; j++) o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
    return 0;
}
