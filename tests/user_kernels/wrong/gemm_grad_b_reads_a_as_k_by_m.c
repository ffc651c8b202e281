/* WRONG op=gemm_grad_b kind=transposed_operand expect=REFUTED : transposed operand, A is read as if it were [k, m] */
#include "kernel.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t i = 0; i < m; i++)
                s += tokitai_load(*call, a, t * m + i) * tokitai_load(*call, grad_c, i * n + j);
            tokitai_store(*call, grad_b, t * n + j, s);
        }
    return 0;
}
