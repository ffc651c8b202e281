/* RIGHT op=gemm kind=compensated expect=HELD : the rounding error of every addition is collected and added at the end; where that is not finite the plain sum is taken */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float *wide = malloc((size_t)(k * n + 2 * n + 1) * sizeof *wide);
    if (!wide) return 1;
    float *sum = wide + k * n, *lost = sum + n;
    for (int64_t i = 0; i < k * n; i++) wide[i] = tokitai_load(*call, b, i);
    for (int64_t i = 0; i < m; i++) {
        memset(sum, 0, (size_t)(2 * n) * sizeof *sum);
        for (int64_t t = k; t-- > 0;) {
            const float x = tokitai_load(*call, a, i * k + t);
            for (int64_t j = 0; j < n; j++) {
                const float p = x * wide[t * n + j], s = sum[j] + p, back = s - sum[j];
                lost[j] += (sum[j] - (s - back)) + (p - back);
                sum[j] = s;
            }
        }
        for (int64_t j = 0; j < n; j++) {
            const float total = sum[j] + lost[j];
            tokitai_store(*call, c, i * n + j, isfinite(total) ? total : sum[j]);
        }
    }
    free(wide);
    return 0;
}
