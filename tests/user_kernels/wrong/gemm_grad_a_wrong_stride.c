/* WRONG op=gemm_grad_a kind=transposed_operand expect=REFUTED : transposed operand, B is read as if it were [n, k]; unless it is 1 wide */
#include "kernel.h"
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float s = 0;
            for (int64_t j = 0; j < n; j++)
                s += tokitai_load(*call, grad_c, i * n + j) * tokitai_load(*call, b, j * k + t);
            tokitai_store(*call, grad_a, i * k + t, s);
        }
    return 0;
}
