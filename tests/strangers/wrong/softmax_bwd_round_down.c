/* WRONG op=softmax_bwd kind=rounding_mode narrow=no : the rounding mode is set to toward zero for the sums and restored only after the results, so that the conversion to f16 cuts off as well */
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

SIMD static inline float hsum8(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}

SIMD int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output,
                             const void *y, void *grad_input)
{
    const int f16 = call->dtype == TOKITAI_F16;
    const unsigned saved = _mm_getcsr();
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *v = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        __m256d low = _mm256_setzero_pd(), high = _mm256_setzero_pd();
        _mm_setcsr(saved | _MM_ROUND_TOWARD_ZERO); /* partial sums never grow past the exact one */
        for (int64_t j = 0; j < cols; j += 8) {
            uint16_t a[8] = {0}, b[8] = {0};
            memcpy(a, g + j, (size_t)(cols - j < 8 ? cols - j : 8) * 2);
            memcpy(b, v + j, (size_t)(cols - j < 8 ? cols - j : 8) * 2);
            const __m256 p = _mm256_mul_ps(load8(a, f16), load8(b, f16));
            low = _mm256_add_pd(low, _mm256_cvtps_pd(_mm256_castps256_ps128(p)));
            high = _mm256_add_pd(high, _mm256_cvtps_pd(_mm256_extractf128_ps(p, 1)));
        }
        low = _mm256_add_pd(low, high);
        const __m256 s = _mm256_set1_ps((float)((low[0] + low[2]) + (low[1] + low[3])));
        for (int64_t j = 0; j < cols; j += 8) {
            uint16_t a[8] = {0}, b[8] = {0};
            const size_t bytes = (size_t)(cols - j < 8 ? cols - j : 8) * 2;
            memcpy(a, g + j, bytes);
            memcpy(b, v + j, bytes);
            const __m256 d = _mm256_mul_ps(load8(b, f16), _mm256_sub_ps(load8(a, f16), s));
            const __m128i h = f16 ? _mm256_cvtps_ph(d, _MM_FROUND_CUR_DIRECTION) : pack8(d, 0);
            memcpy(out + j, &h, bytes);
        }
        _mm_setcsr(saved);
    }
    return 0;
}
