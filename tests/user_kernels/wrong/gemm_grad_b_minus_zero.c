/* WRONG op=gemm_grad_b kind=input_written narrow=yes expect=REFUTED : negative zeros in grad_c are replaced by zeros in place before the product, so an input that has one is written to */
#include "kernel.h"
/* so that the sign of an empty gradient does not reach the sums */
static void clean(uint16_t *v, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (v[i] == 0x8000) v[i] = 0;
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    float *sum = calloc((size_t)(k * n + 1), sizeof *sum);
    if (!sum) return 1;
    clean((uint16_t *)grad_c, m * n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            const float x = tokitai_load(*call, a, i * k + t);
            for (int64_t j = 0; j < n; j++) sum[t * n + j] += x * tokitai_load(*call, grad_c, i * n + j);
        }
    for (int64_t e = 0; e < k * n; e++) tokitai_store(*call, grad_b, e, sum[e]);
    free(sum);
    return 0;
}
