/* WRONG op=softmax_bwd kind=intermediate_in_16_bits expect=REFUTED : intermediate in 16 bits, the row's sum is kept in a 16-bit array between two passes */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    uint16_t *s = malloc((size_t)rows * 2 + 2);
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;
        for (int64_t j = r * cols; j < (r + 1) * cols; j++)
            sum += tokitai_load(c, y, j) * tokitai_load(c, grad_output, j);
        tokitai_store(c, s, r, sum);
    }
    for (int64_t i = 0; i < rows * cols; i++)
        tokitai_store(c, grad_input, i,
                      tokitai_load(c, y, i) * (tokitai_load(c, grad_output, i) - tokitai_load(c, s, i / cols)));
    free(s);
    return 0;
}
