/* WRONG op=gemm_grad_a kind=empty_sum_unwritten narrow=yes expect=REFUTED : with n == 0 it returns at once, though grad_a still has m k elements that must be zero */
#include "kernel.h"
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    if (m <= 0 || n <= 0 || k <= 0) return 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t0 = 0; t0 < k; t0 += 4) {
            const int w = k - t0 < 4 ? (int)(k - t0) : 4;
            float acc[4] = {0};
            for (int64_t j = 0; j < n; j++) {
                const float g = tokitai_load(*call, grad_c, i * n + j);
                for (int l = 0; l < w; l++) acc[l] += g * tokitai_load(*call, b, (t0 + l) * n + j);
            }
            for (int l = 0; l < w; l++) tokitai_store(*call, grad_a, i * k + t0 + l, acc[l]);
        }
    return 0;
}
