/* WRONG op=softmax_bwd kind=the_sum_starts_anew_with_each_block_of_c expect=REFUTED : the sum starts anew with each block of columns; cols > 512 */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t b = 0; b < cols; b += 512) {
            const int64_t e = b + 512 < cols ? b + 512 : cols;
            float s = 0;
            for (int64_t j = r * cols + b; j < r * cols + e; j++)
                s += tokitai_load(c, y, j) * tokitai_load(c, grad_output, j);
            for (int64_t j = r * cols + b; j < r * cols + e; j++)
                tokitai_store(c, grad_input, j, tokitai_load(c, y, j) * (tokitai_load(c, grad_output, j) - s));
        }
    return 0;
}
