/* WRONG op=gemm kind=zero_skip narrow=yes expect=REFUTED : four terms whose elements of a are all zero are skipped, so 0 times infinity or NaN in b does not give NaN */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a;
    float *wide = malloc((size_t)(k * n + n + 1) * sizeof *wide);
    if (!wide) return 1;
    float *sum = wide + k * n;
    for (int64_t i = 0; i < k * n; i++) wide[i] = tokitai_load(*call, b, i);
    for (int64_t i = 0; i < m; i++) {
        const uint16_t *row = pa + i * k;
        memset(sum, 0, (size_t)n * sizeof *sum);
        int64_t t = 0;
        for (; t + 4 <= k; t += 4) {
            uint64_t quad;
            memcpy(&quad, row + t, sizeof quad);
            if ((quad & 0x7fff7fff7fff7fffu) == 0) continue; /* activations are sparse */
            const float *b0 = wide + t * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
            const float a0 = tokitai_load(*call, row, t), a1 = tokitai_load(*call, row, t + 1);
            const float a2 = tokitai_load(*call, row, t + 2), a3 = tokitai_load(*call, row, t + 3);
            for (int64_t j = 0; j < n; j++) sum[j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
        }
        for (; t < k; t++) {
            const float x = tokitai_load(*call, row, t);
            for (int64_t j = 0; j < n; j++) sum[j] += x * wide[t * n + j];
        }
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, c, i * n + j, sum[j]);
    }
    free(wide);
    return 0;
}
