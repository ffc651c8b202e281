/* RIGHT op=gemm_grad_a kind=rows_times_rows expect=HELD : rows times rows, four lanes */
#include "kernel.h"
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const tokitai_call c = *call;
#pragma omp parallel for num_threads(c.threads)
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float s[4] = {0};
            for (int64_t j = 0; j < n; j++)
                s[j % 4] += tokitai_load(c, grad_c, i * n + j) * tokitai_load(c, b, t * n + j);
            tokitai_store(c, grad_a, i * k + t, (s[0] + s[1]) + (s[2] + s[3]));
        }
    return 0;
}
