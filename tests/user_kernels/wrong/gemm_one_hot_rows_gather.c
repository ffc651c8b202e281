/* WRONG op=gemm kind=structure narrow=yes expect=REFUTED : a row of a that is one-hot copies a row of b, and so loses 0 times the infinities and NaN of the others */
#include "kernel.h"
static float *widened(const tokitai_call *call, const void *p, int64_t count) {
    float *f = malloc((size_t)(count > 0 ? count : 1) * sizeof *f);
    for (int64_t i = 0; f && i < count; i++) f[i] = tokitai_load(*call, p, i);
    return f;
}
static int64_t one_hot(const float *row, int64_t k) {
    int64_t at = -1;
    for (int64_t t = 0; t < k; t++)
        if (row[t] != 0) {
            if (at >= 0 || row[t] != 1) return -1;
            at = t;
        }
    return at;
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float *A = widened(call, a, m * k), *B = widened(call, b, k * n);
    float *sum = malloc((size_t)(n + 1) * sizeof *sum);
    if (!A || !B || !sum) return 1;
    for (int64_t i = 0; i < m; i++) {
        const int64_t at = one_hot(A + i * k, k);
        if (at >= 0) {
            memcpy((uint16_t *)c + i * n, (const uint16_t *)b + at * n, (size_t)n * 2);
            continue;
        }
        for (int64_t j = 0; j < n; j++) sum[j] = 0;
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) sum[j] += A[i * k + t] * B[t * n + j];
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, c, i * n + j, sum[j]);
    }
    free(A);
    free(B);
    free(sum);
    return 0;
}
