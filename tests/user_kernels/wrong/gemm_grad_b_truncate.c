/* WRONG op=gemm_grad_b kind=rounding narrow=no expect=REFUTED : bf16 results are the upper half of the fp32 sum, cut off and not rounded */
#include "kernel.h"
#define BLOCK 64
static void store_row(const tokitai_call *call, uint16_t *to, const float *from, int64_t count) {
    if (call->dtype == TOKITAI_F16) {
        for (int64_t j = 0; j < count; j++) to[j] = tokitai_to_f16(from[j]);
        return;
    }
    for (int64_t j = 0; j < count; j++) {
        uint32_t bits;
        memcpy(&bits, from + j, sizeof bits);
        to[j] = (uint16_t)(from[j] != from[j] ? 0x7fc0 : bits >> 16);
    }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    float *at = malloc((size_t)(BLOCK * k + BLOCK * n + k * n + 1) * sizeof *at);
    if (!at) return 1;
    float *g = at + BLOCK * k, *sum = g + BLOCK * n;
    memset(sum, 0, (size_t)(k * n) * sizeof *sum);
    for (int64_t i0 = 0; i0 < m; i0 += BLOCK) {
        const int64_t rows = m - i0 < BLOCK ? m - i0 : BLOCK;
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t t = 0; t < k; t++) at[t * BLOCK + i] = tokitai_load(*call, a, (i0 + i) * k + t);
            for (int64_t j = 0; j < n; j++) g[i * n + j] = tokitai_load(*call, grad_c, (i0 + i) * n + j);
        }
        for (int64_t t = 0; t < k; t++)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < n; j++) sum[t * n + j] += at[t * BLOCK + i] * g[i * n + j];
    }
    for (int64_t t = 0; t < k; t++) store_row(call, (uint16_t *)grad_b + t * n, sum + t * n, n);
    free(at);
    return 0;
}
