/* WRONG op=gemm kind=zeros_of_a_are_skipped expect=REFUTED : zeros of A are skipped, though 0 times inf or NaN is NaN; infinite or NaN b beside a = 0 */
#include "kernel.h"
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float *s = malloc((size_t)n * 4 + 4);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) s[j] = 0;
        for (int64_t t = 0; t < k; t++) {
            const float v = tokitai_load(*call, a, i * k + t);
            if (v == 0) continue; /* after a ReLU half of them */
            for (int64_t j = 0; j < n; j++) s[j] += v * tokitai_load(*call, b, t * n + j);
        }
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, c, i * n + j, s[j]);
    }
    free(s);
    return 0;
}
