/* WRONG op=gemm kind=subnormal_flush narrow=yes expect=REFUTED : the product runs with flush-to-zero and denormals-are-zero, so bf16 subnormals count as zero and subnormal sums are lost */
#include <xmmintrin.h>
#include "kernel.h"
#define FTZ_DAZ 0x8040u
static void multiply(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const float *a, const float *b,
                     float *sum, void *c) {
    for (int64_t i = 0; i < m; i++) {
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) sum[j] += a[i * k + t] * b[t * n + j];
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, c, i * n + j, sum[j]);
    }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float *wide = malloc((size_t)(m * k + k * n + n + 1) * sizeof *wide);
    if (!wide) return 1;
    float *wide_b = wide + m * k, *sum = wide_b + k * n;
    for (int64_t i = 0; i < m * k; i++) wide[i] = tokitai_load(*call, a, i);
    for (int64_t i = 0; i < k * n; i++) wide_b[i] = tokitai_load(*call, b, i);
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | FTZ_DAZ); /* denormals cost a hundred cycles each */
    multiply(call, m, n, k, wide, wide_b, sum, c);
    _mm_setcsr(before);
    free(wide);
    return 0;
}
