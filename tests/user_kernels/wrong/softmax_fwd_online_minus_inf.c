/* WRONG op=softmax_fwd kind=inf_less_inf_in_the_online_update_gives expect=REFUTED : -inf less -inf in the online update gives NaN; rows that begin with -inf but have finite elements */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
#pragma omp parallel for num_threads(c.threads)
    for (int64_t r = 0; r < rows; r++) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, x, r * cols + j), w = v > m ? v : m;
            if (v > m) s = s * expf(m - w);
            s += expf(v - w);
            m = w;
        }
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, y, r * cols + j, expf(tokitai_load(c, x, r * cols + j) - m) / s);
    }
    return 0;
}
