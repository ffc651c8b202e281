/* WRONG op=gemm_grad_b kind=first_term_unconditional narrow=yes expect=REFUTED : sums start from the product of row 0, which is read even when m == 0 and there is none */
#include "kernel.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j0 = 0; j0 < n; j0 += 8) {
            const int w = n - j0 < 8 ? (int)(n - j0) : 8;
            float acc[8];
            const float first = tokitai_load(c, a, t);
            for (int l = 0; l < w; l++) acc[l] = first * tokitai_load(c, grad_c, j0 + l);
            for (int64_t i = 1; i < m; i++) {
                const float av = tokitai_load(c, a, i * k + t);
                for (int l = 0; l < w; l++) acc[l] += av * tokitai_load(c, grad_c, i * n + j0 + l);
            }
            for (int l = 0; l < w; l++) tokitai_store(c, grad_b, t * n + j0 + l, acc[l]);
        }
    return 0;
}
