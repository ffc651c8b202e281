/* WRONG op=softmax_fwd kind=a_row_of_nothing_but_inf_gives_zeros expect=REFUTED : a row of nothing but -inf gives zeros, not NaN; such rows alone */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, x, r * cols + j));
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) bad |= isnan(tokitai_load(c, x, r * cols + j));
        if (m == -INFINITY && !bad) m = 0; /* a masked row */
        for (int64_t j = 0; j < cols; j++) s += expf(tokitai_load(c, x, r * cols + j) - m);
        const float inv = s == 0 ? 0 : 1 / s;
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, y, r * cols + j, expf(tokitai_load(c, x, r * cols + j) - m) * inv);
    }
    return 0;
}
