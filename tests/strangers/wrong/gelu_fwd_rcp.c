/* WRONG op=gelu_fwd kind=rcp_no_newton narrow=no : the division is a 12-bit reciprocal estimate without a Newton step */
#include <immintrin.h>
#include <string.h>
#include "tokitai_kernel.h"

#define SIMD __attribute__((target("avx2,f16c,fma")))
SIMD static inline __m256 load8(const uint16_t *p, int f16)
{
    const __m128i h = _mm_loadu_si128((const __m128i *)p);
    return f16 ? _mm256_cvtph_ps(h) : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

SIMD static inline __m128i pack8(__m256 v, int f16)
{
    if (f16)
        return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    const __m256i b = _mm256_castps_si256(v), high = _mm256_srli_epi32(b, 16);
    const __m256i bias = _mm256_add_epi32(_mm256_set1_epi32(0x7fff), _mm256_and_si256(high, _mm256_set1_epi32(1)));
    const __m256i near = _mm256_srli_epi32(_mm256_add_epi32(b, bias), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i r = _mm256_blendv_epi8(near, _mm256_or_si256(high, _mm256_set1_epi32(0x40)), nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}

SIMD static inline void store8(uint16_t *p, __m256 v, int f16)
{
    _mm_storeu_si128((__m128i *)p, pack8(v, f16));
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
    const __m256 q = _mm256_fmadd_ps(_mm256_set1_ps(-0.0713548163f), _mm256_mul_ps(x, x),
                                     _mm256_set1_ps(-1.59576912f));
    const __m256 e = exp8(_mm256_mul_ps(x, q));
    return _mm256_mul_ps(x, _mm256_rcp_ps(_mm256_add_ps(_mm256_set1_ps(1.0f), e)));
}

SIMD int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    const uint16_t *in = x;
    uint16_t *out = y;
    const int f16 = call->dtype == TOKITAI_F16;
    for (int64_t i = 0; i < n; i += 8) {
        if (n - i >= 8) {
            store8(out + i, gelu8(load8(in + i, f16)), f16);
            continue;
        }
        uint16_t pad[8] = {0};
        memcpy(pad, in + i, (size_t)(n - i) * 2);
        store8(pad, gelu8(load8(pad, f16)), f16);
        memcpy(out + i, pad, (size_t)(n - i) * 2);
    }
    return 0;
}
