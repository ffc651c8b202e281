/* WRONG op=softmax_fwd kind=row_buffer_of_fixed_size expect=REFUTED : row buffer of fixed size; cols > 8192: the stack is overwritten */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    float e[8192];
    for (int64_t r = 0; r < rows; r++) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(*call, x, r * cols + j));
        for (int64_t j = 0; j < cols; j++) s += e[j] = expf(tokitai_load(*call, x, r * cols + j) - m);
        for (int64_t j = 0; j < cols; j++) tokitai_store(*call, y, r * cols + j, e[j] / s);
    }
    return 0;
}
