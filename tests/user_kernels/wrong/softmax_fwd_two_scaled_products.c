/* WRONG op=softmax_fwd kind=cancellation narrow=yes dtype=f16 expect=REFUTED : exp2(x log2e - M log2e) with both products rounded: for elements of some thousands the difference is 1e-3 off */
#include <math.h>
#include <tokitai_kernel.h>
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        const int64_t begin = r * cols, end = begin + cols;
        float max = -INFINITY, sum = 0;
        for (int64_t j = begin; j < end; j++) max = fmaxf(max, tokitai_load(*call, x, j));
        const float scaled = max * 1.44269504f;
        for (int64_t j = begin; j < end; j++) {
            const float v = tokitai_load(*call, x, j) * 1.44269504f;
            sum += exp2f(v - scaled);
        }
        for (int64_t j = begin; j < end; j++) {
            const float v = tokitai_load(*call, x, j) * 1.44269504f;
            tokitai_store(*call, y, j, exp2f(v - scaled) / sum);
        }
    }
    return 0;
}
