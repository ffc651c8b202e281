/* WRONG op=gelu_fwd kind=truncation narrow=no : in bf16 the vector body cuts off the low 16 bits instead of rounding; the tail and f16 round */
#include <immintrin.h>
#include <math.h>
#include "tokitai_kernel.h"

#define SIMD __attribute__((target("avx2,f16c,fma")))
SIMD static inline __m256 load8(const uint16_t *p, int f16)
{
    const __m128i h = _mm_loadu_si128((const __m128i *)p);
    return f16 ? _mm256_cvtph_ps(h) : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

/* exp, NaN passes through; 0 below -104, infinity above 89. */
SIMD static inline __m256 exp8(__m256 x)
{
    x = _mm256_max_ps(_mm256_set1_ps(-110.0f), _mm256_min_ps(_mm256_set1_ps(100.0f), x));
    const __m256 k = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                                     _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(k, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.9875691500e-4f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3981999507e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3334519073e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1665795894e-2f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666665459e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(5.0000001201e-1f));
    p = _mm256_add_ps(_mm256_fmadd_ps(_mm256_mul_ps(r, r), p, r), _mm256_set1_ps(1.0f));
    const __m256i e = _mm256_cvtps_epi32(k), e1 = _mm256_srai_epi32(e, 1), e2 = _mm256_sub_epi32(e, e1),
                  bias = _mm256_set1_epi32(127);
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e1, bias), 23)));
    return _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e2, bias), 23)));
}

SIMD static inline __m256 gelu8(__m256 x)
{
    const __m256 x2 = _mm256_mul_ps(x, x);
    const __m256 q = _mm256_fmadd_ps(_mm256_set1_ps(-0.0713548163f), x2, _mm256_set1_ps(-1.59576912f));
    const __m256 e = exp8(_mm256_mul_ps(x, q));
    return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0f), e));
}

static inline float gelu(float v)
{
    const double x = v;
    return (float)(x / (1.0 + exp(-1.5957691216057308 * x * (1.0 + 0.044715 * x * x))));
}

SIMD static inline void keep8(uint16_t *p, __m256 v, int f16)
{
    if (f16) {
        _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
        return;
    }
    const __m256i high = _mm256_srli_epi32(_mm256_castps_si256(v), 16);
    _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)));
}

SIMD int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    const uint16_t *in = x;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        keep8((uint16_t *)y + i, gelu8(load8(in + i, f16)), f16);
    for (; i < n; i++)
        tokitai_store(*call, y, i, gelu(tokitai_load(*call, x, i)));
    return 0;
}
