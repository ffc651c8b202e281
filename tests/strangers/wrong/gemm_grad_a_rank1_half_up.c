/* WRONG op=gemm_grad_a kind=rank1_half_up narrow=yes : bf16 and n == 1: the fast path for one product rounds ties away from zero by adding 0x8000 */
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

AVX static void rank1_bf16(const uint16_t *g, const uint16_t *w, uint16_t *out, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        const __m256 x = _mm256_set1_ps(tokitai_from_bf16(g[i]));
        int64_t t = 0;
        for (; t + 8 <= k; t += 8) {
            const __m256 p = _mm256_mul_ps(x, ld8(w + t, 1));
            const __m256i u = _mm256_castps_si256(p);
            __m256i r = _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x8000)), 16);
            r = _mm256_blendv_epi8(r, _mm256_set1_epi32(0x7fc0),
                                   _mm256_castps_si256(_mm256_cmp_ps(p, p, _CMP_UNORD_Q)));
            _mm_storeu_si128((__m128i *)(out + i * k + t),
                             _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1)));
        }
        for (; t < k; t++)
            out[i * k + t] = tokitai_to_bf16(tokitai_from_bf16(g[i]) * tokitai_from_bf16(w[t]));
    }
}

int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a)
{
    const int bf = call->dtype == TOKITAI_BF16;
    const uint16_t *g = grad_c, *w = b;
    uint16_t *out = grad_a;
    if (n == 1 && bf) {
        rank1_bf16(g, w, out, m, k);
        return 0;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float s0 = 0, s1 = 0;
            int64_t j = 0;
            for (; j + 1 < n; j += 2) {
                s0 += ld1(g[i * n + j], bf) * ld1(w[t * n + j], bf);
                s1 += ld1(g[i * n + j + 1], bf) * ld1(w[t * n + j + 1], bf);
            }
            if (j < n)
                s0 += ld1(g[i * n + j], bf) * ld1(w[t * n + j], bf);
            out[i * k + t] = st1(s0 + s1, bf);
        }
    return 0;
}
