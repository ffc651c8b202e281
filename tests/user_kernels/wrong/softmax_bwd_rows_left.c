/* WRONG op=softmax_bwd kind=wrong_stride narrow=no expect=REFUTED : the rows left over after blocks of 4 are addressed with the number of blocks as if it were their row */
#include "kernel.h"
static void row(const tokitai_call c, int64_t cols, const uint16_t *g, const uint16_t *y, uint16_t *out) {
    double s = 0;
    for (int64_t j = 0; j < cols; j++) s += (double)tokitai_load(c, g, j) * tokitai_load(c, y, j);
    for (int64_t j = 0; j < cols; j++)
        tokitai_store(c, out, j, (float)(tokitai_load(c, y, j) * (tokitai_load(c, g, j) - s)));
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const uint16_t *g = grad_output, *p = y;
    uint16_t *out = grad_input;
    int64_t block = 0;
    for (; block < rows / 4; block++) {
        const int64_t at = block * 4 * cols;
        __builtin_prefetch(g + at + 4 * cols);
        __builtin_prefetch(p + at + 4 * cols);
        row(*call, cols, g + at, p + at, out + at);
        row(*call, cols, g + at + cols, p + at + cols, out + at + cols);
        row(*call, cols, g + at + 2 * cols, p + at + 2 * cols, out + at + 2 * cols);
        row(*call, cols, g + at + 3 * cols, p + at + 3 * cols, out + at + 3 * cols);
    }
    for (int64_t left = 0; left < rows % 4; left++) {
        const int64_t at = (block + left) * cols;
        row(*call, cols, g + at, p + at, out + at);
    }
    return 0;
}
