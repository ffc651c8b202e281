/* WRONG op=gemm kind=overlap narrow=no expect=REFUTED : with n > 16 and n % 16 != 0 the last column tile is moved back to end at n, and its sums are added to columns that the tile before has done */
#include "kernel.h"
#define NR 16
typedef float v16 __attribute__((vector_size(64)));
static void tile(const float *a, const float *b, int64_t n, int64_t k, float *sum) {
    v16 acc, line;
    memcpy(&acc, sum, sizeof acc);
    for (int64_t t = 0; t < k; t++) {
        memcpy(&line, b + t * n, sizeof line);
        acc += a[t] * line;
    }
    memcpy(sum, &acc, sizeof acc);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float *wide = calloc((size_t)(k * n + k + n + 1), sizeof *wide);
    if (!wide) return 1;
    float *row = wide + k * n, *sum = row + k;
    for (int64_t i = 0; i < k * n; i++) wide[i] = tokitai_load(*call, b, i);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t t = 0; t < k; t++) row[t] = tokitai_load(*call, a, i * k + t);
        memset(sum, 0, (size_t)n * sizeof *sum);
        if (n < NR) {
            for (int64_t t = 0; t < k; t++)
                for (int64_t j = 0; j < n; j++) sum[j] += row[t] * wide[t * n + j];
        } else {
            for (int64_t j = 0; j < n; j += NR) {
                const int64_t at = j + NR <= n ? j : n - NR;
                tile(row, wide + at, n, k, sum + at);
            }
        }
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, c, i * n + j, sum[j]);
    }
    free(wide);
    return 0;
}
