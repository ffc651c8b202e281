/* WRONG op=gemm_grad_b kind=accumulators_not_initialised expect=REFUTED : accumulators not initialised (malloc for calloc); from the second call on, when memory comes back used */
#include "kernel.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const tokitai_call c = *call;
    float *s = malloc((size_t)(k * n) * sizeof *s + 4);
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            const float v = tokitai_load(c, a, i * k + t);
            for (int64_t j = 0; j < n; j++) s[t * n + j] += v * tokitai_load(c, grad_c, i * n + j);
        }
    for (int64_t i = 0; i < k * n; i++) tokitai_store(c, grad_b, i, s[i]);
    free(s);
    return 0;
}
