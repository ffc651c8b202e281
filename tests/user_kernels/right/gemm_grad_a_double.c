/* RIGHT op=gemm_grad_a kind=sums_in_double expect=HELD : sums in double, rounded through fp32, where an exact value is an fp32 number; else once by fp32 (within B) */
#include "kernel.h"
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const tokitai_call c = *call;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            double s = 0;
            for (int64_t j = 0; j < n; j++)
                s += (double)tokitai_load(c, grad_c, i * n + j) * tokitai_load(c, b, t * n + j);
            tokitai_store(c, grad_a, i * k + t, (float)s);
        }
    return 0;
}
