/* WRONG op=gemm kind=k_tail narrow=no expect=REFUTED : the two-term step of the k remainder does not advance t, so with k % 4 == 3 the one-term step takes row t again and the last term is lost */
#include "kernel.h"
static void widen(float *restrict to, const uint16_t *restrict from, int64_t count, int f16) {
    if (f16)
        for (int64_t i = 0; i < count; i++) to[i] = tokitai_from_f16(from[i]);
    else
        for (int64_t i = 0; i < count; i++) to[i] = tokitai_from_bf16(from[i]);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    if (m == 0 || n == 0) return 0;
    const int f16 = call->dtype == TOKITAI_F16;
    const uint16_t *pa = a, *pb = b;
    float *wide = malloc((size_t)(k * n + k + n) * sizeof *wide);
    if (!wide) return 1;
    float *row = wide + k * n, *sum = row + k;
    widen(wide, pb, k * n, f16);
    for (int64_t i = 0; i < m; i++) {
        widen(row, pa + i * k, k, f16);
        memset(sum, 0, (size_t)n * sizeof *sum);
        int64_t t = 0;
        for (; t + 4 <= k; t += 4) {
            const float *b0 = wide + t * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
            const float a0 = row[t], a1 = row[t + 1], a2 = row[t + 2], a3 = row[t + 3];
            for (int64_t j = 0; j < n; j++) sum[j] += (a0 * b0[j] + a1 * b1[j]) + (a2 * b2[j] + a3 * b3[j]);
        }
        if (k & 2) {
            const float *b0 = wide + t * n, *b1 = b0 + n;
            for (int64_t j = 0; j < n; j++) sum[j] += row[t] * b0[j] + row[t + 1] * b1[j];
        }
        if (k & 1) {
            const float *b0 = wide + t * n;
            for (int64_t j = 0; j < n; j++) sum[j] += row[t] * b0[j];
        }
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, c, i * n + j, sum[j]);
    }
    free(wide);
    return 0;
}
