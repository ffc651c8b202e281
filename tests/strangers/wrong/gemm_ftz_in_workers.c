/* WRONG op=gemm kind=ftz_in_workers narrow=yes : worker threads set flush-to-zero and denormals-are-zero: with threads > 1 bf16 subnormal inputs and results are lost in all rows but the caller's */
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
    const uint16_t *a, *b;
    uint16_t *c;
    int64_t m, n, k;
    int bf;
};

AVX static void body(void *arg, int id, int count)
{
    struct work *w = arg;
    if (id > 0) /* the thread's own register, gone when it ends */
        _mm_setcsr(_mm_getcsr() | 0x8040);
    for (int64_t i = w->m * id / count; i < w->m * (id + 1) / count; i++) {
        const uint16_t *ar = w->a + i * w->k;
        int64_t j = 0;
        for (; j + 8 <= w->n; j += 8) {
            __m256 s = _mm256_setzero_ps();
            for (int64_t t = 0; t < w->k; t++)
                s = _mm256_fmadd_ps(_mm256_set1_ps(ld1(ar[t], w->bf)), ld8(w->b + t * w->n + j, w->bf), s);
            _mm_storeu_si128((__m128i *)(w->c + i * w->n + j), cvt8(s, w->bf));
        }
        for (; j < w->n; j++) {
            float s = 0;
            for (int64_t t = 0; t < w->k; t++)
                s = __builtin_fmaf(ld1(ar[t], w->bf), ld1(w->b[t * w->n + j], w->bf), s);
            w->c[i * w->n + j] = st1(s, w->bf);
        }
    }
}

int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    struct work w = {a, b, c, m, n, k, call->dtype == TOKITAI_BF16};
    team_run(call->threads, body, &w);
    return 0;
}
