/* WRONG op=gemm kind=residue_and_condition narrow=yes expect=REFUTED : the table of tilings has a depth of 30 for 32 to 127 rows and sums of 4096 to 8191; the loop goes by fours and drops two products of each block */
#include "kernel.h"
static float *widened(const tokitai_call *call, const void *p, int64_t count) {
    float *f = malloc((size_t)(count > 0 ? count : 1) * sizeof *f);
    for (int64_t i = 0; f && i < count; i++) f[i] = tokitai_load(*call, p, i);
    return f;
}
/* depth of a block of the sum, by rows and by the length of the sum, as the tuner found them */
static const uint8_t tuned[4][16] = {
    {16, 16, 16, 16, 16, 32, 32, 32, 64, 64, 64, 64, 64, 64, 64, 64},
    {16, 16, 16, 16, 16, 32, 32, 32, 64, 64, 64, 64, 64, 64, 64, 64},
    {16, 16, 16, 16, 16, 32, 32, 32, 32, 32, 32, 32, 30, 32, 64, 64},
    {16, 16, 16, 16, 16, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32},
};
static int log2_of(int64_t v) { return v > 1 ? 63 - __builtin_clzll((unsigned long long)v) : 0; }
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float *A = widened(call, a, m * k), *B = widened(call, b, k * n);
    float *sum = malloc((size_t)(n + 1) * sizeof *sum);
    if (!A || !B || !sum) return 1;
    const int rows = log2_of(m) / 2 - 1, length = log2_of(k);
    const int64_t depth = tuned[rows < 0         ? 0
                                : rows > 3       ? 3
                                : log2_of(m) < 5 ? 1
                                : log2_of(m) < 7 ? 2
                                                 : 3][length > 15 ? 15 : length];
    for (int64_t i = 0; i < m; i++) {
        int64_t t = 0;
        const float *x = A + i * k;
        for (int64_t j = 0; j < n; j++) sum[j] = 0;
        for (; t + depth <= k; t += depth)
            for (int64_t u = t; u + 4 <= t + depth; u += 4)
                for (int64_t j = 0; j < n; j++)
                    sum[j] += x[u] * B[u * n + j] + x[u + 1] * B[(u + 1) * n + j] +
                              (x[u + 2] * B[(u + 2) * n + j] + x[u + 3] * B[(u + 3) * n + j]);
        for (; t < k; t++)
            for (int64_t j = 0; j < n; j++) sum[j] += x[t] * B[t * n + j];
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, c, i * n + j, sum[j]);
    }
    free(A);
    free(B);
    free(sum);
    return 0;
}
