/* WRONG op=softmax_bwd kind=dropped_tail narrow=no : the dot product leaves out the columns after the last full vector of 8 */
#include <immintrin.h>
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

SIMD static inline float hsum8(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}

SIMD int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output,
                             const void *y, void *grad_input)
{
    const tokitai_call c = *call;
    const int f16 = c.dtype == TOKITAI_F16;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        __m256 acc = _mm256_setzero_ps();
        int64_t j = 0;
        for (; j + 8 <= cols; j += 8)
            acc = _mm256_fmadd_ps(load8(g + j, f16), load8(p + j, f16), acc);
        const float s = hsum8(acc);
        const __m256 all = _mm256_set1_ps(s);
        for (j = 0; j + 8 <= cols; j += 8)
            store8(out + j, _mm256_mul_ps(load8(p + j, f16), _mm256_sub_ps(load8(g + j, f16), all)), f16);
        for (; j < cols; j++)
            tokitai_store(c, out, j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
    }
    return 0;
}
