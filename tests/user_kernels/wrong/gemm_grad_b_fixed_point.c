/* WRONG op=gemm_grad_b kind=fixed_point_accumulator narrow=no expect=REFUTED : sums are kept as integers of 2^-26 for order independence, which loses the bits of small products and the range of large ones */
#include "kernel.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            int64_t fixed = 0;
            float special = 0.0f;
            for (int64_t i = 0; i < m; i++) {
                const float p = tokitai_load(c, a, i * k + t) * tokitai_load(c, grad_c, i * n + j);
                if (fabsf(p) < 1e9f) fixed += llrintf(p * 67108864.0f);
                else special += p;
            }
            tokitai_store(c, grad_b, t * n + j, (float)((double)fixed / 67108864.0) + special);
        }
    return 0;
}
