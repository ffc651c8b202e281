/* RIGHT op=gemm_grad_a kind=transposed_copy expect=HELD : b is widened and transposed by blocks of 16, and rows of grad_a are built from two rows of the copy at a time */
#include "elements.h"
#define BLOCK 16
static void transpose(const tokitai_call *call, const void *b, int64_t k, int64_t n, float *bt) {
    for (int64_t t0 = 0; t0 < k; t0 += BLOCK)
        for (int64_t j0 = 0; j0 < n; j0 += BLOCK)
            for (int64_t t = t0; t < least(k, t0 + BLOCK); t++)
                for (int64_t j = j0; j < least(n, j0 + BLOCK); j++) bt[j * k + t] = tokitai_load(*call, b, t * n + j);
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    float *bt = malloc((size_t)(n * k + k + 1) * sizeof *bt);
    if (!bt) return 1;
    float *sum = bt + n * k;
    transpose(call, b, k, n, bt);
    for (int64_t i = 0; i < m; i++) {
        memset(sum, 0, (size_t)k * sizeof *sum);
        int64_t j = 0;
        for (; j + 2 <= n; j += 2) {
            const float x = tokitai_load(*call, grad_c, i * n + j), y = tokitai_load(*call, grad_c, i * n + j + 1);
            const float *p = bt + j * k, *q = p + k;
            for (int64_t t = 0; t < k; t++) sum[t] += x * p[t] + y * q[t];
        }
        if (j < n)
            for (int64_t t = 0; t < k; t++) sum[t] += tokitai_load(*call, grad_c, i * n + j) * bt[j * k + t];
        for (int64_t t = 0; t < k; t++) tokitai_store(*call, grad_a, i * k + t, sum[t]);
    }
    free(bt);
    return 0;
}
