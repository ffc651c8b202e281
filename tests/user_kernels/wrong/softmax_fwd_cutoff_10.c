/* WRONG op=softmax_fwd kind=terms_more_than_10_below_the_maximum_are expect=REFUTED : terms more than 10 below the maximum are taken for 0; rows with such elements */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, x, r * cols + j));
        for (int pass = 0; pass < 2; pass++)
            for (int64_t j = 0; j < cols; j++) {
                const float d = tokitai_load(c, x, r * cols + j) - m, e = d < -10 ? 0 : expf(d);
                if (!pass) s += e;
                else tokitai_store(c, y, r * cols + j, e / s);
            }
    }
    return 0;
}
