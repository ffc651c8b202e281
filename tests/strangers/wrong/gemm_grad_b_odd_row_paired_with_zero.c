/* WRONG op=gemm_grad_b kind=odd_row_paired_with_zero narrow=yes : rows go in pairs, and an odd last one is paired with itself times zero: 0 * inf makes NaN of an infinity in the last row of grad_c */
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>

#define AVX __attribute__((target("avx2,fma,f16c")))

AVX static inline __attribute__((unused)) __m256 ld8(const uint16_t *p, int bf)
{
    __m128i h = _mm_loadu_si128((const __m128i *)p);
    if (bf)
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
    return _mm256_cvtph_ps(h);
}

AVX static inline __attribute__((unused)) __m128i cvt8(__m256 v, int bf)
{
    if (!bf)
        return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    __m256i u = _mm256_castps_si256(v);
    __m256i lsb = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    __m256i r = _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff))), 16);
    __m256i q = _mm256_or_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(0x40));
    r = _mm256_blendv_epi8(r, q, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}

static inline __attribute__((unused)) float ld1(uint16_t h, int bf)
{
    return bf ? tokitai_from_bf16(h) : tokitai_from_f16(h);
}
static inline __attribute__((unused)) uint16_t st1(float f, int bf)
{
    return bf ? tokitai_to_bf16(f) : tokitai_to_f16(f);
}

AVX static void pairs(const uint16_t *g, const uint16_t *a, uint16_t *out, int64_t m, int64_t n, int64_t k, int bf)
{
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j += 8) {
            const int64_t w = n - j < 8 ? n - j : 8;
            __m256 s0 = _mm256_setzero_ps(), s1 = _mm256_setzero_ps();
            uint16_t r0[8] = {0}, r1[8] = {0};
            for (int64_t i = 0; i < m; i += 2) {
                const int64_t i1 = i + 1 < m ? i + 1 : i; /* stay inside */
                const float x0 = ld1(a[i * k + t], bf), x1 = i + 1 < m ? ld1(a[i1 * k + t], bf) : 0.0f;
                memcpy(r0, g + i * n + j, (size_t)w * 2);
                memcpy(r1, g + i1 * n + j, (size_t)w * 2);
                s0 = _mm256_fmadd_ps(_mm256_set1_ps(x0), ld8(r0, bf), s0);
                s1 = _mm256_fmadd_ps(_mm256_set1_ps(x1), ld8(r1, bf), s1);
            }
            uint16_t o[8];
            _mm_storeu_si128((__m128i *)o, cvt8(_mm256_add_ps(s0, s1), bf));
            memcpy(out + t * n + j, o, (size_t)w * 2);
        }
}

int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b)
{
    pairs(grad_c, a, grad_b, m, n, k, call->dtype == TOKITAI_BF16);
    return 0;
}
