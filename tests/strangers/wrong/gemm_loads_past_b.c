/* WRONG op=gemm kind=reads_beyond_the_end : reads beyond the end, eight columns of B are loaded at the right edge too; n not a multiple of 8 and B at the end of a page: crash */
#include <immintrin.h>
#include <tokitai_kernel.h>
#define AVX __attribute__((target("avx2,fma,f16c")))
/* e^x for x <= 0, eight at a time: Cody-Waite and a polynomial of degree 6 */
static inline AVX __m256 exp8(__m256 x)
{
    x = _mm256_max_ps(_mm256_set1_ps(-104.0f), x);
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), 8);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.3888889e-3f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3333333e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1666667e-2f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666667e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    __m256i k = _mm256_cvtps_epi32(n), h = _mm256_srai_epi32(k, 1); /* 2^n in two halves: subnormals too */
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(h, _mm256_set1_epi32(127)), 23)));
    return _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(
                                _mm256_add_epi32(_mm256_sub_epi32(k, h), _mm256_set1_epi32(127)), 23)));
}
static inline AVX __m256 load8(int f16, const uint16_t *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    return f16 ? _mm256_cvtph_ps(v) : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v), 16));
}
static AVX void tile(tokitai_call c, int64_t n, int64_t k, int64_t w, const uint16_t *a, const uint16_t *b,
                     uint16_t *o)
{
    __m256 s = _mm256_setzero_ps();
    float l[8];
    for (int64_t t = 0; t < k; t++)
        s = _mm256_fmadd_ps(_mm256_set1_ps(tokitai_load(c, a, t)), load8(c.dtype == TOKITAI_F16, b + t * n), s);
    _mm256_storeu_ps(l, s);
    for (int64_t j = 0; j < w; j++)
        tokitai_store(c, o, j, l[j]);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j += 8)
            tile(*call, n, k, n - j < 8 ? n - j : 8, (const uint16_t *)a + i * k, (const uint16_t *)b + j,
                 (uint16_t *)c + i * n + j);
    return 0;
}
