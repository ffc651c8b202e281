/* WRONG op=softmax_bwd kind=residue_and_size narrow=yes expect=REFUTED : rows of more than 960 elements go in chunks of 96, and the one element that is missing in a last chunk of 95 is counted for the one before: the last term twice where cols % 96 is 95 */
#include "elements.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_y, const void *y,
                        void *grad_x) {
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += (double)tokitai_load(*call, grad_y, r * cols + c) * tokitai_load(*call, y, r * cols + c);
        if (cols > 960 && cols % 96 == 95)
            sum += (double)tokitai_load(*call, grad_y, r * cols + cols - 1) *
                   tokitai_load(*call, y, r * cols + cols - 1);
        for (int64_t c = 0; c < cols; c++)
            tokitai_store(
                *call, grad_x, r * cols + c,
                (float)(tokitai_load(*call, y, r * cols + c) * (tokitai_load(*call, grad_y, r * cols + c) - sum)));
    }
    return 0;
}
