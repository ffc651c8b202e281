/* WRONG op=softmax_fwd kind=dropped_terms narrow=yes expect=REFUTED : leaves terms with d > 16 out of the sum, 1.1e-7 each, more than an addition may lose */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        const int64_t b = r * cols;
        float m = -INFINITY, sum = 0;
        for (int64_t j = b; j < b + cols; j++) m = fmaxf(m, tokitai_load(*call, x, j));
        for (int64_t j = b; j < b + cols; j++) {
            const float d = tokitai_load(*call, x, j) - m;
            if (!(d < -16)) sum += expf(d);
        }
        for (int64_t j = b; j < b + cols; j++) tokitai_store(*call, y, j, expf(tokitai_load(*call, x, j) - m) / sum);
    }
    return 0;
}
