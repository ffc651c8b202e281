/* WRONG op=gemm_grad_a kind=bf16_pair_unmasked narrow=no : bf16: the odd element of a pair is taken as the whole 32-bit word, with the even one still in its low bits */
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

AVX static float dot_bf16(const uint16_t *x, const uint16_t *y, int64_t n)
{
    __m256 even = _mm256_setzero_ps(), odd = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 16 <= n; j += 16) {
        const __m256i u = _mm256_loadu_si256((const __m256i *)(x + j)),
                      v = _mm256_loadu_si256((const __m256i *)(y + j));
        even = _mm256_fmadd_ps(_mm256_castsi256_ps(_mm256_slli_epi32(u, 16)),
                               _mm256_castsi256_ps(_mm256_slli_epi32(v, 16)), even);
        odd = _mm256_fmadd_ps(_mm256_castsi256_ps(u), _mm256_castsi256_ps(v), odd);
    }
    float s = hsum(_mm256_add_ps(even, odd));
    for (; j < n; j++)
        s += tokitai_from_bf16(x[j]) * tokitai_from_bf16(y[j]);
    return s;
}

AVX static float dot_f16(const uint16_t *x, const uint16_t *y, int64_t n)
{
    __m256 acc = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        acc = _mm256_fmadd_ps(ld8(x + j, 0), ld8(y + j, 0), acc);
    float s = hsum(acc);
    for (; j < n; j++)
        s += tokitai_from_f16(x[j]) * tokitai_from_f16(y[j]);
    return s;
}

int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a)
{
    const uint16_t *g = grad_c, *w = b;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            ((uint16_t *)grad_a)[i * k + t] = st1(
                bf ? dot_bf16(g + i * n, w + t * n, n) : dot_f16(g + i * n, w + t * n, n), bf);
    return 0;
}
