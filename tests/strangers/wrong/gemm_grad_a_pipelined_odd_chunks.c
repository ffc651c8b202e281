/* WRONG op=gemm_grad_a kind=pipelined_odd_chunks narrow=yes : software pipelining in steps of two chunks of 16: with an odd number of chunks, three or more, the one in flight at the end is dropped (n / 16 odd, n >= 48) */
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

struct chunk {
    __m256 x0, x1, y0, y1;
};

AVX static inline struct chunk fetch(const uint16_t *x, const uint16_t *y, int bf)
{
    return (struct chunk){ld8(x, bf), ld8(x + 8, bf), ld8(y, bf), ld8(y + 8, bf)};
}

AVX static float dot(const uint16_t *x, const uint16_t *y, int64_t n, int bf)
{
    __m256 s0 = _mm256_setzero_ps(), s1 = _mm256_setzero_ps();
    const int64_t chunks = n / 16;
    if (chunks > 0) {
        struct chunk p = fetch(x, y, bf), q = p;
        int64_t c = 0;
        for (; c + 2 <= chunks; c += 2) { /* multiply one while the other is on its way */
            q = fetch(x + 16 * (c + 1), y + 16 * (c + 1), bf);
            s0 = _mm256_fmadd_ps(p.x0, p.y0, s0);
            s1 = _mm256_fmadd_ps(p.x1, p.y1, s1);
            if (c + 2 < chunks)
                p = fetch(x + 16 * (c + 2), y + 16 * (c + 2), bf);
            s0 = _mm256_fmadd_ps(q.x0, q.y0, s0);
            s1 = _mm256_fmadd_ps(q.x1, q.y1, s1);
        }
        if (chunks == 1) { /* never came to the loop */
            s0 = _mm256_fmadd_ps(p.x0, p.y0, s0);
            s1 = _mm256_fmadd_ps(p.x1, p.y1, s1);
        }
    }
    float s = hsum(_mm256_add_ps(s0, s1));
    for (int64_t j = 16 * chunks; j < n; j++)
        s += ld1(x[j], bf) * ld1(y[j], bf);
    return s;
}

int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a)
{
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            ((uint16_t *)grad_a)[i * k + t] = st1(
                dot((const uint16_t *)grad_c + i * n, (const uint16_t *)b + t * n, n, bf), bf);
    return 0;
}
