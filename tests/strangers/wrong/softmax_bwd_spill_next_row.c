/* WRONG op=softmax_bwd kind=spill_next_row narrow=no : every row but the very last is written in whole vectors, as the next row puts right what they spill; the last row of one thread spills into the first row of the next thread, which may be done already (threads > 1, cols % 8 != 0) */
#pragma GCC target("avx2,fma,f16c")
#include <immintrin.h>
#include <tokitai_kernel.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static inline __m256 ld8(const uint16_t *p, int bf)
{
    __m128i h = _mm_loadu_si128((const __m128i *)p);
    return bf ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16)) : _mm256_cvtph_ps(h);
}
static inline __m128i pack8(__m256 v, int bf)
{
    if (!bf)
        return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256i b = _mm256_castps_si256(v), lsb = _mm256_and_si256(_mm256_srli_epi32(b, 16), _mm256_set1_epi32(1));
    __m256i r = _mm256_srli_epi32(_mm256_add_epi32(b, _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff))), 16);
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    r = _mm256_blendv_epi8(r, _mm256_or_si256(_mm256_srli_epi32(b, 16), _mm256_set1_epi32(0x40)), nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}
static inline void st8(uint16_t *p, __m256 v, int bf)
{
    _mm_storeu_si128((__m128i *)p, pack8(v, bf));
}
static inline float ld1(uint16_t p, int bf)
{
    return bf ? tokitai_from_bf16(p) : tokitai_from_f16(p);
}
static inline uint16_t st1(float v, int bf)
{
    return bf ? tokitai_to_bf16(v) : tokitai_to_f16(v);
}
static inline float hsum8(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
struct args {
    const uint16_t *g, *y;
    uint16_t *o;
    int64_t rows, cols;
    int bf;
};
typedef struct {
    void (*fn)(void *, int64_t, int64_t);
    void *ctx;
    int64_t lo, hi;
} job_t;
static void *job_main(void *p)
{
    job_t *j = p;
    j->fn(j->ctx, j->lo, j->hi);
    return 0;
}
static void par_rows(int nt, int64_t rows, void (*fn)(void *, int64_t, int64_t), void *ctx)
{
    job_t job[64];
    pthread_t tid[64];
    char live[64];
    if (nt > 64)
        nt = 64;
    if (nt > rows)
        nt = (int)rows;
    if (nt <= 1) {
        fn(ctx, 0, rows);
        return;
    }
    int64_t per = rows / nt, extra = rows % nt, at = 0;
    for (int t = 0; t < nt; t++) {
        job[t] = (job_t){fn, ctx, at, at + per + (t < extra)};
        at = job[t].hi;
    }
    for (int t = 1; t < nt; t++)
        live[t] = pthread_create(&tid[t], 0, job_main, &job[t]) == 0;
    job_main(&job[0]);
    for (int t = 1; t < nt; t++) {
        if (live[t])
            pthread_join(tid[t], 0);
        else
            job_main(&job[t]);
    }
}
static void rows_fn(void *p, int64_t lo, int64_t hi)
{
    const struct args *a = p;
    const int bf = a->bf;
    const int64_t n = a->cols, full = n & ~(int64_t)7;
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *g = a->g + r * n, *y = a->y + r * n;
        uint16_t *o = a->o + r * n;
        __m256 acc = _mm256_setzero_ps();
        float s = 0;
        int64_t j;
        for (j = 0; j < full; j += 8)
            acc = _mm256_fmadd_ps(ld8(g + j, bf), ld8(y + j, bf), acc);
        for (; j < n; j++)
            s += ld1(g[j], bf) * ld1(y[j], bf);
        s += hsum8(acc);
        const __m256 sv = _mm256_set1_ps(s);
        for (j = 0; j < full; j += 8)
            st8(o + j, _mm256_mul_ps(ld8(y + j, bf), _mm256_sub_ps(ld8(g + j, bf), sv)), bf);
        if (j < n && (a->rows - 1 - r) * n >= 8) /* room for a whole vector */
            st8(o + j, _mm256_mul_ps(ld8(y + j, bf), _mm256_sub_ps(ld8(g + j, bf), sv)), bf);
        else
            for (; j < n; j++)
                o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *g, const void *y, void *o)
{
    struct args a = {g, y, o, rows, cols, call->dtype == TOKITAI_BF16};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
