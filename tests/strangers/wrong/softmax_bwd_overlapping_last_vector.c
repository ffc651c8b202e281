/* WRONG op=softmax_bwd kind=double_counting : double counting, the last vector overlaps the one before; cols > 8 and not a multiple of 8 */
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
static AVX float dot(int f16, const uint16_t *a, const uint16_t *b, int64_t n)
{
    __m256 s = _mm256_setzero_ps();
    float l[8];
    int64_t j = 0;
    if (n < 8) {
        float t = 0;
        for (; j < n; j++)
            t += f16 ? tokitai_from_f16(a[j]) * tokitai_from_f16(b[j])
                     : tokitai_from_bf16(a[j]) * tokitai_from_bf16(b[j]);
        return t;
    }
    for (; j + 8 <= n; j += 8)
        s = _mm256_fmadd_ps(load8(f16, a + j), load8(f16, b + j), s);
    if (j < n)
        s = _mm256_fmadd_ps(load8(f16, a + n - 8), load8(f16, b + n - 8), s);
    _mm256_storeu_ps(l, s);
    return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input)
{
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        const float s = dot(c.dtype == TOKITAI_F16, g, p, cols);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, grad_input, r * cols + j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
    }
    return 0;
}
