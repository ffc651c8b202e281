/* WRONG op=gemm kind=reads_beyond_the_end expect=REFUTED : reads beyond the end, eight columns of B are loaded at the right edge too; n not a multiple of 8 and B at the end of a page: crash */
#include "avx2.h"
static AVX2 void tile(tokitai_call c, int64_t n, int64_t k, int64_t w, const uint16_t *a, const uint16_t *b,
                      uint16_t *o) {
    __m256 s = _mm256_setzero_ps();
    float l[8];
    for (int64_t t = 0; t < k; t++)
        s = _mm256_fmadd_ps(_mm256_set1_ps(tokitai_load(c, a, t)), load8_as(c.dtype == TOKITAI_F16, b + t * n), s);
    _mm256_storeu_ps(l, s);
    for (int64_t j = 0; j < w; j++) tokitai_store(c, o, j, l[j]);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j += 8)
            tile(*call, n, k, n - j < 8 ? n - j : 8, (const uint16_t *)a + i * k, (const uint16_t *)b + j,
                 (uint16_t *)c + i * n + j);
    return 0;
}
