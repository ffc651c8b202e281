/* WRONG op=softmax_fwd kind=tree_reduction_for_powers_of_two_only expect=REFUTED : tree reduction for powers of two only; 3 <= cols <= 256, not a power of two */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        float m = -INFINITY, s = 0, e[256];
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, x, r * cols + j));
        if (cols <= 256) {
            for (int64_t j = 0; j < cols; j++) e[j] = expf(tokitai_load(c, x, r * cols + j) - m);
            for (int64_t w = cols / 2; w > 0; w /= 2)
                for (int64_t j = 0; j < w; j++) e[j] += e[j + w];
            s = cols ? e[0] : 0;
        } else
            for (int64_t j = 0; j < cols; j++) s += expf(tokitai_load(c, x, r * cols + j) - m);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, y, r * cols + j, expf(tokitai_load(c, x, r * cols + j) - m) / s);
    }
    return 0;
}
