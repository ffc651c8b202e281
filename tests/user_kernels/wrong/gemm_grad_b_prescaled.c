/* WRONG op=gemm_grad_b kind=prescale_overflow narrow=yes expect=REFUTED : products are scaled by 2^24 against underflow and the sum is scaled back, which overflows for bf16 products from 2^104 on */
#include "kernel.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    const float up = 16777216.0f, down = 1.0f / 16777216.0f;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0.0f;
            for (int64_t i = 0; i < m; i++)
                s += tokitai_load(c, a, i * k + t) * up * tokitai_load(c, grad_c, i * n + j);
            tokitai_store(c, grad_b, t * n + j, s * down);
        }
    return 0;
}
