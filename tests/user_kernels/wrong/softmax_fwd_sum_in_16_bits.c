/* WRONG op=softmax_fwd kind=the_sum_is_accumulated_in_the_element_ty expect=REFUTED : the sum is accumulated in the element type; rows of more than a few columns */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        uint16_t sum = 0;
        float m = -INFINITY;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(*call, x, r * cols + j));
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, &sum, 0,
                          tokitai_load(*call, &sum, 0) + expf(tokitai_load(*call, x, r * cols + j) - m));
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, y, r * cols + j,
                          expf(tokitai_load(*call, x, r * cols + j) - m) / tokitai_load(*call, &sum, 0));
    }
    return 0;
}
