/* RIGHT op=gemm kind=sliding_last_tile : AVX2 and FMA, the last column tile slides back over its neighbour and writes the same values again; runtime dispatch */
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

AVX static void fast(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m, int64_t n, int64_t k, int bf)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j0 = 0; j0 < n; j0 += 8) {
            const int64_t j = j0 + 8 <= n ? j0 : n - 8;
            __m256 s = _mm256_setzero_ps();
            for (int64_t t = 0; t < k; t++) {
                _mm_prefetch((const char *)(b + (t + 16) * n + j),
                             _MM_HINT_T0); /* may lie past the end: a prefetch never faults */
                s = _mm256_fmadd_ps(_mm256_set1_ps(ld1(a[i * k + t], bf)), ld8(b + t * n + j, bf), s);
            }
            _mm_storeu_si128((__m128i *)(c + i * n + j), cvt8(s, bf));
        }
}

int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    const uint16_t *pa = a, *pb = b;
    const int bf = call->dtype == TOKITAI_BF16;
    if (n >= 8 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
        fast(pa, pb, c, m, n, k, bf);
        return 0;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++)
                s += ld1(pa[i * k + t], bf) * ld1(pb[t * n + j], bf);
            ((uint16_t *)c)[i * n + j] = st1(s, bf);
        }
    return 0;
}
