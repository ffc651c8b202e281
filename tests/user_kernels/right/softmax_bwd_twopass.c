/* RIGHT op=softmax_bwd kind=the_sum expect=HELD : the sum, then y (g - s), rows over OpenMP threads */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
#pragma omp parallel for num_threads(c.threads)
    for (int64_t r = 0; r < rows; r++) {
        float s = 0;
        for (int64_t j = r * cols; j < (r + 1) * cols; j++)
            s += tokitai_load(c, y, j) * tokitai_load(c, grad_output, j);
        for (int64_t j = r * cols; j < (r + 1) * cols; j++)
            tokitai_store(c, grad_input, j, tokitai_load(c, y, j) * (tokitai_load(c, grad_output, j) - s));
    }
    return 0;
}
