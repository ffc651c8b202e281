/* WRONG op=softmax_fwd kind=the_maximum_starts_from_0 expect=REFUTED : the maximum starts from 0; rows with nothing above about -88 */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        float m = 0, s = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, x, r * cols + j));
        for (int64_t j = 0; j < cols; j++) s += expf(tokitai_load(c, x, r * cols + j) - m);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, y, r * cols + j, expf(tokitai_load(c, x, r * cols + j) - m) / s);
    }
    return 0;
}
