/* WRONG op=gemm_grad_a kind=overflow_of_the_store_is_clamped_to_6550 expect=REFUTED : overflow of the store is clamped to 65504; fp16 results from 65520 on */
#include "kernel.h"
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const tokitai_call c = *call;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float s = 0;
            for (int64_t j = 0; j < n; j++) s += tokitai_load(c, grad_c, i * n + j) * tokitai_load(c, b, t * n + j);
            if (c.dtype == TOKITAI_F16) s = s > 65504 ? 65504 : s < -65504 ? -65504 : s;
            tokitai_store(c, grad_a, i * k + t, s);
        }
    return 0;
}
