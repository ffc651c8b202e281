/* WRONG op=gemm_grad_b kind=empty_sum_not_written expect=REFUTED : empty sum not written, the first row of m starts the sums; m = 0 */
#include "kernel.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    if (m < 1) return 0;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float s = tokitai_load(c, a, t) * tokitai_load(c, grad_c, j);
            for (int64_t i = 1; i < m; i++) s += tokitai_load(c, a, i * k + t) * tokitai_load(c, grad_c, i * n + j);
            tokitai_store(c, grad_b, t * n + j, s);
        }
    return 0;
}
