/* WRONG op=softmax_fwd kind=no_maximum_subtracted expect=REFUTED : no maximum subtracted; logits above 88 or all far below 0 */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        float s = 0;
        for (int64_t j = 0; j < cols; j++) s += expf(tokitai_load(*call, x, r * cols + j));
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, y, r * cols + j, expf(tokitai_load(*call, x, r * cols + j)) / s);
    }
    return 0;
}
