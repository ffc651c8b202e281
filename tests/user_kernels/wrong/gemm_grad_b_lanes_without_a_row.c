/* WRONG op=gemm_grad_b kind=nan_lanes narrow=yes expect=REFUTED : the last four rows are taken at once; lanes without a row have whatever the stack held, times zero */
#include "kernel.h"
static float *widened(const tokitai_call *call, const void *p, int64_t count) {
    float *f = malloc((size_t)(count > 0 ? count : 1) * sizeof *f);
    for (int64_t i = 0; f && i < count; i++) f[i] = tokitai_load(*call, p, i);
    return f;
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    float *A = widened(call, a, m * k), *G = widened(call, grad_c, m * n);
    float *sum = malloc((size_t)(n + 1) * sizeof *sum);
    if (!A || !G || !sum) return 1;
    for (int64_t t = 0; t < k; t++) {
        for (int64_t j = 0; j < n; j++) sum[j] = 0;
        for (int64_t i = 0; i < m; i += 4) {
            volatile float left[4];
            float weight[4];
            for (int l = 0; l < 4; l++) {
                weight[l] = i + l < m ? 1.0f : 0.0f;
                if (i + l < m) left[l] = A[(i + l) * k + t];
            }
            for (int64_t j = 0; j < n; j++)
                for (int l = 0; l < 4; l++) sum[j] += left[l] * weight[l] * (i + l < m ? G[(i + l) * n + j] : 0.0f);
        }
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, grad_b, t * n + j, sum[j]);
    }
    free(A);
    free(G);
    free(sum);
    return 0;
}
