/* WRONG op=gemm_grad_a kind=tail_overread narrow=yes : the rest of a row is loaded as a whole vector and masked afterwards: a fault where the last row of an input ends at the end of a mapped page, n % 8 != 0 */
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

AVX static inline float hsum(__m256 v)
{
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    x = _mm_add_ss(x, _mm_movehdup_ps(x));
    return _mm_cvtss_f32(x);
}

static const int32_t masks[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

AVX static float dot(const uint16_t *x, const uint16_t *y, int64_t n, int bf)
{
    __m256 s = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        s = _mm256_fmadd_ps(ld8(x + j, bf), ld8(y + j, bf), s);
    if (j < n) { /* lanes past the end become zero on both sides */
        const __m256 mask = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(masks + 8 - (n - j))));
        s = _mm256_fmadd_ps(_mm256_and_ps(ld8(x + j, bf), mask), _mm256_and_ps(ld8(y + j, bf), mask), s);
    }
    return hsum(s);
}

int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a)
{
    const int bf = call->dtype == TOKITAI_BF16;
    const uint16_t *g = grad_c, *w = b;
    uint16_t *out = grad_a;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            out[i * k + t] = st1(dot(g + i * n, w + t * n, n, bf), bf);
    return 0;
}
