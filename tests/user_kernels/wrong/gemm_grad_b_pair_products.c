/* WRONG op=gemm_grad_b kind=low_precision narrow=no expect=REFUTED : for bf16, the sum of two products is rounded to bf16 before it is added to the fp32 accumulator */
#include "kernel.h"
/* two terms of a dot product as one instruction would do it */
static inline float pair(float a0, float g0, float a1, float g1) {
    return tokitai_from_bf16(tokitai_to_bf16(a0 * g0 + a1 * g1));
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    float *g = malloc((size_t)(m * n + n + 1) * sizeof *g);
    if (!g) return 1;
    float *sum = g + m * n;
    for (int64_t i = 0; i < m * n; i++) g[i] = tokitai_load(*call, grad_c, i);
    for (int64_t t = 0; t < k; t++) {
        memset(sum, 0, (size_t)n * sizeof *sum);
        int64_t i = 0;
        if (call->dtype == TOKITAI_BF16)
            for (; i + 2 <= m; i += 2) {
                const float a0 = tokitai_load(*call, a, i * k + t), a1 = tokitai_load(*call, a, (i + 1) * k + t);
                for (int64_t j = 0; j < n; j++) sum[j] += pair(a0, g[i * n + j], a1, g[(i + 1) * n + j]);
            }
        for (; i < m; i++) {
            const float x = tokitai_load(*call, a, i * k + t);
            for (int64_t j = 0; j < n; j++) sum[j] += x * g[i * n + j];
        }
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, grad_b, t * n + j, sum[j]);
    }
    free(g);
    return 0;
}
