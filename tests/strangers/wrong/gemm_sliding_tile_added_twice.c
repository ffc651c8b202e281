/* WRONG op=gemm kind=sliding_tile_added_twice narrow=yes : the last column tile slides back over the one before it, and from the second block of 512 products on adds to what that one has added: n > 16, n % 16 != 0, k > 512 */
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

enum { KC = 512, NR = 16 };

AVX static void tile(const uint16_t *a, const uint16_t *b, float *acc, int64_t n, int64_t depth, int first, int bf)
{
    __m256 s0 = first ? _mm256_setzero_ps() : _mm256_loadu_ps(acc);
    __m256 s1 = first ? _mm256_setzero_ps() : _mm256_loadu_ps(acc + 8);
    for (int64_t t = 0; t < depth; t++) {
        const __m256 x = _mm256_set1_ps(ld1(a[t], bf));
        s0 = _mm256_fmadd_ps(x, ld8(b + t * n, bf), s0);
        s1 = _mm256_fmadd_ps(x, ld8(b + t * n + 8, bf), s1);
    }
    _mm256_storeu_ps(acc, s0);
    _mm256_storeu_ps(acc + 8, s1);
}

int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    const uint16_t *pa = a, *pb = b;
    uint16_t *pc = c;
    const int bf = call->dtype == TOKITAI_BF16;
    float *acc = malloc((size_t)(n + NR) * sizeof(float));
    for (int64_t i = 0; i < m; i++) {
        memset(acc, 0, (size_t)n * sizeof(float));
        for (int64_t t0 = 0; t0 < k; t0 += KC) {
            const int64_t depth = k - t0 < KC ? k - t0 : KC;
            const uint16_t *ar = pa + i * k + t0, *br = pb + t0 * n;
            if (n >= NR) {
                int64_t j = 0;
                for (; j + NR <= n; j += NR)
                    tile(ar, br + j, acc + j, n, depth, t0 == 0, bf);
                if (j < n) /* whole vectors for the rest too */
                    tile(ar, br + n - NR, acc + n - NR, n, depth, t0 == 0, bf);
            } else {
                for (int64_t t = 0; t < depth; t++)
                    for (int64_t j = 0; j < n; j++)
                        acc[j] += ld1(ar[t], bf) * ld1(br[t * n + j], bf);
            }
        }
        for (int64_t j = 0; j < n; j++)
            pc[i * n + j] = st1(acc[j], bf);
    }
    free(acc);
    return 0;
}
