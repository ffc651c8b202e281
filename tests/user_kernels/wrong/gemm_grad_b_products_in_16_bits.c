/* WRONG op=gemm_grad_b kind=products_rounded_to_16_bits_before_they expect=REFUTED : products rounded to 16 bits before they are added in fp32; everywhere */
#include "kernel.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t i = 0; i < m; i++) {
                uint16_t p;
                tokitai_store(c, &p, 0, tokitai_load(c, a, i * k + t) * tokitai_load(c, grad_c, i * n + j));
                s += tokitai_load(c, &p, 0);
            }
            tokitai_store(c, grad_b, t * n + j, s);
        }
    return 0;
}
