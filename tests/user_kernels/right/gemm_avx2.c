/* RIGHT op=gemm kind=avx2_and_fma_over_columns expect=HELD : AVX2 and FMA over columns, scalar FMA for the rest */
#include "avx2.h"
static AVX2 void rowtimes(tokitai_call c, int64_t n, int64_t k, const uint16_t *a, const uint16_t *b, uint16_t *o) {
    const int f16 = c.dtype == TOKITAI_F16;
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) {
        __m256 s = _mm256_setzero_ps();
        float l[8];
        for (int64_t t = 0; t < k; t++)
            s = _mm256_fmadd_ps(_mm256_set1_ps(tokitai_load(c, a, t)), load8_as(f16, b + t * n + j), s);
        _mm256_storeu_ps(l, s);
        for (int q = 0; q < 8; q++) tokitai_store(c, o, j + q, l[q]);
    }
    for (; j < n; j++) {
        float s = 0;
        for (int64_t t = 0; t < k; t++) s = fmaf(tokitai_load(c, a, t), tokitai_load(c, b, t * n + j), s);
        tokitai_store(c, o, j, s);
    }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    for (int64_t i = 0; i < m; i++) rowtimes(*call, n, k, (const uint16_t *)a + i * k, b, (uint16_t *)c + i * n);
    return 0;
}
