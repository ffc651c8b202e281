/* WRONG op=softmax_fwd kind=double_rounding expect=REFUTED : double rounding, the exponentials wait in the output (16 bits) for their sum */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, x, r * cols + j));
        for (int64_t j = 0; j < cols; j++) {
            const float e = expf(tokitai_load(c, x, r * cols + j) - m);
            s += e;
            tokitai_store(c, y, r * cols + j, e);
        }
        for (int64_t j = 0; j < cols; j++) tokitai_store(c, y, r * cols + j, tokitai_load(c, y, r * cols + j) / s);
    }
    return 0;
}
