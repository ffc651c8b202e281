/* RIGHT op=softmax_fwd kind=avx2_with_a_polynomial_exponential : AVX2 with a polynomial exponential; the tail goes through a padded copy */
#include <immintrin.h>
#include <math.h>
#include <string.h>
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
static AVX void row(int f16, const uint16_t *x, uint16_t *y, int64_t n)
{
    const uint16_t ninf = f16 ? 0xfc00 : 0xff80;
    float m = -INFINITY;
    int odd = 0;
    for (int64_t j = 0; j < n; j++) {
        const float v = f16 ? tokitai_from_f16(x[j]) : tokitai_from_bf16(x[j]);
        odd |= !(v < INFINITY);
        if (v > m)
            m = v;
    }
    if (odd || m == -INFINITY) {
        for (int64_t j = 0; j < n; j++)
            y[j] = 0x7fff;
        return;
    }
    __m256 sum = _mm256_setzero_ps(), mv = _mm256_set1_ps(m);
    uint16_t pad[8];
    float e[8], s[8];
    for (int64_t j = 0; j < n; j += 8) {
        const uint16_t *p = x + j;
        if (n - j < 8) {
            for (int k = 0; k < 8; k++)
                pad[k] = j + k < n ? x[j + k] : ninf;
            p = pad;
        }
        sum = _mm256_add_ps(sum, exp8(_mm256_sub_ps(load8(f16, p), mv)));
    }
    _mm256_storeu_ps(s, sum);
    const float total = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
    for (int64_t j = 0; j < n; j += 8) {
        const int64_t w = n - j < 8 ? n - j : 8;
        for (int k = 0; k < 8; k++)
            pad[k] = k < w ? x[j + k] : ninf;
        _mm256_storeu_ps(e, _mm256_div_ps(exp8(_mm256_sub_ps(load8(f16, pad), mv)), _mm256_set1_ps(total)));
        for (int k = 0; k < w; k++)
            y[j + k] = f16 ? tokitai_to_f16(e[k]) : tokitai_to_bf16(e[k]);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    for (int64_t r = 0; r < rows; r++)
        row(call->dtype == TOKITAI_F16, (const uint16_t *)x + r * cols, (uint16_t *)y + r * cols, cols);
    return 0;
}
