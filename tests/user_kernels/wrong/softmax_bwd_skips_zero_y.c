/* WRONG op=softmax_bwd kind=zeros_of_y_are_skipped expect=REFUTED : zeros of y are skipped, though 0 times inf or NaN is NaN; infinite or NaN grad_output beside y = 0 */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        float s = 0;
        for (int64_t j = r * cols; j < (r + 1) * cols; j++) {
            const float p = tokitai_load(c, y, j);
            if (p != 0) s += p * tokitai_load(c, grad_output, j); /* causal rows are half zeros */
        }
        for (int64_t j = r * cols; j < (r + 1) * cols; j++) {
            const float p = tokitai_load(c, y, j);
            tokitai_store(c, grad_input, j, p == 0 ? 0 : p * (tokitai_load(c, grad_output, j) - s));
        }
    }
    return 0;
}
