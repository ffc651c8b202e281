/* WRONG op=gemm_grad_a kind=stale_padding narrow=yes : rows are padded to 16 in buffers kept between calls, and the padding is zeroed only when they grow: a call with n % 16 != 0 after one with a longer n adds old products */
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

static float *left, *right;
static int64_t left_room, right_room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static float *room(float **buffer, int64_t *have, int64_t want)
{
    if (want > *have) {
        free(*buffer);
        *buffer = calloc((size_t)want, sizeof(float)); /* padding is zero from here on */
        *have = want;
    }
    return *buffer;
}

AVX static float dot(const float *x, const float *y, int64_t padded)
{
    __m256 s0 = _mm256_setzero_ps(), s1 = _mm256_setzero_ps();
    for (int64_t j = 0; j < padded; j += 16) {
        s0 = _mm256_fmadd_ps(_mm256_loadu_ps(x + j), _mm256_loadu_ps(y + j), s0);
        s1 = _mm256_fmadd_ps(_mm256_loadu_ps(x + j + 8), _mm256_loadu_ps(y + j + 8), s1);
    }
    return hsum(_mm256_add_ps(s0, s1));
}

int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a)
{
    const int bf = call->dtype == TOKITAI_BF16;
    const uint16_t *g = grad_c, *w = b;
    const int64_t padded = (n + 15) & ~(int64_t)15;
    pthread_mutex_lock(&lock);
    float *row = room(&left, &left_room, padded + 16), *all = room(&right, &right_room, padded * k + 16);
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++)
            all[t * padded + j] = ld1(w[t * n + j], bf);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            row[j] = ld1(g[i * n + j], bf);
        for (int64_t t = 0; t < k; t++)
            ((uint16_t *)grad_a)[i * k + t] = st1(dot(row, all + t * padded, padded), bf);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}
