/* RIGHT op=gemm_grad_a kind=flat_range_exact_magic : the flat index is divided by k by a 64-bit reciprocal and set right by one step, in threads that end in the middle of rows */
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

struct team {
    void (*body)(void *, int, int);
    void *arg;
    int id, count;
};
static void *team_main(void *p)
{
    struct team *t = p;
    t->body(t->arg, t->id, t->count);
    return 0;
}
static void team_run(int count, void (*body)(void *, int, int), void *arg)
{
    pthread_t th[count];
    struct team t[count];
    char up_[count];
    for (int i = 0; i < count; i++) {
        t[i] = (struct team){body, arg, i, count};
        up_[i] = i > 0 && pthread_create(&th[i], 0, team_main, &t[i]) == 0;
    }
    for (int i = 0; i < count; i++)
        if (!up_[i])
            body(arg, i, count);
    for (int i = 1; i < count; i++)
        if (up_[i])
            pthread_join(th[i], 0);
}

struct work {
    const uint16_t *g, *b;
    uint16_t *out;
    int64_t m, n, k;
    uint64_t magic;
    int bf;
};

AVX static float dot(const uint16_t *x, const uint16_t *y, int64_t n, int bf)
{
    __m256 s0 = _mm256_setzero_ps(), s1 = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 16 <= n; j += 16) {
        s0 = _mm256_fmadd_ps(ld8(x + j, bf), ld8(y + j, bf), s0);
        s1 = _mm256_fmadd_ps(ld8(x + j + 8, bf), ld8(y + j + 8, bf), s1);
    }
    if (j < n) {
        uint16_t p[16] = {0}, q[16] = {0};
        memcpy(p, x + j, (size_t)(n - j) * 2);
        memcpy(q, y + j, (size_t)(n - j) * 2);
        s0 = _mm256_fmadd_ps(ld8(p, bf), ld8(q, bf), s0);
        s1 = _mm256_fmadd_ps(ld8(p + 8, bf), ld8(q + 8, bf), s1);
    }
    return hsum(_mm256_sub_ps(s0, _mm256_sub_ps(_mm256_setzero_ps(), s1)));
}

static void body(void *arg, int id, int count)
{
    const struct work *w = arg;
    const int64_t total = w->m * w->k;
    for (int64_t e = total * id / count; e < total * (id + 1) / count; e++) {
        int64_t i = (int64_t)(((unsigned __int128)(uint64_t)e * w->magic) >> 64);
        if ((i + 1) * w->k <= e)
            i++;
        w->out[e] = st1(dot(w->g + i * w->n, w->b + (e - i * w->k) * w->n, w->n, w->bf), w->bf);
    }
}

int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a)
{
    if (k == 0)
        return 0;
    struct work w = {grad_c, b, grad_a, m, n, k, UINT64_MAX / (uint64_t)k, call->dtype == TOKITAI_BF16};
    team_run(call->threads, body, &w);
    return 0;
}
