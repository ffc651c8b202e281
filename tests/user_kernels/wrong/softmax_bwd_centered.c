/* WRONG op=softmax_bwd kind=assumes_normalised_rows narrow=no expect=REFUTED : the dot product is formed around the first gradient as if y summed to one, which stored probabilities do not */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = r * cols;
        if (cols == 0) continue;
        /* a shift by any constant cancels for probabilities and keeps the terms small */
        const float pivot = tokitai_load(c, grad_output, at);
        float s = 0.0f;
        for (int64_t j = 0; j < cols; j++)
            s += tokitai_load(c, y, at + j) * (tokitai_load(c, grad_output, at + j) - pivot);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, grad_input, at + j,
                          tokitai_load(c, y, at + j) * ((tokitai_load(c, grad_output, at + j) - pivot) - s));
    }
    return 0;
}
