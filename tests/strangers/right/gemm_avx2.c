/* RIGHT op=gemm kind=avx2_and_fma_over_columns : AVX2 and FMA over columns, scalar FMA for the rest */
#include <immintrin.h>
#include <math.h>
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
static AVX void rowtimes(tokitai_call c, int64_t n, int64_t k, const uint16_t *a, const uint16_t *b, uint16_t *o)
{
    const int f16 = c.dtype == TOKITAI_F16;
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) {
        __m256 s = _mm256_setzero_ps();
        float l[8];
        for (int64_t t = 0; t < k; t++)
            s = _mm256_fmadd_ps(_mm256_set1_ps(tokitai_load(c, a, t)), load8(f16, b + t * n + j), s);
        _mm256_storeu_ps(l, s);
        for (int q = 0; q < 8; q++)
            tokitai_store(c, o, j + q, l[q]);
    }
    for (; j < n; j++) {
        float s = 0;
        for (int64_t t = 0; t < k; t++)
            s = fmaf(tokitai_load(c, a, t), tokitai_load(c, b, t * n + j), s);
        tokitai_store(c, o, j, s);
    }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    for (int64_t i = 0; i < m; i++)
        rowtimes(*call, n, k, (const uint16_t *)a + i * k, b, (uint16_t *)c + i * n);
    return 0;
}
