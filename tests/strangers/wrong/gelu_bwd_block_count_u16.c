/* WRONG op=gelu_bwd kind=block_count_u16 narrow=yes : blocks of 64 in a queue are counted in 16 bits: from n = 4194304 on the number wraps and most blocks are never taken */
#include <tokitai_kernel.h>
#include <math.h>
#include <string.h>
#include <stdlib.h>
#include <pthread.h>

#include <immintrin.h>
#define AVX __attribute__((target("avx2,fma,f16c")))

AVX static inline __m256 vexp(__m256 t)
{
    const __m256 hi = _mm256_set1_ps(88.7f), lo = _mm256_set1_ps(-87.3f);
    const __m256 big = _mm256_cmp_ps(t, hi, _CMP_GT_OQ), nan = _mm256_cmp_ps(t, t, _CMP_UNORD_Q);
    __m256 c = _mm256_max_ps(_mm256_min_ps(t, hi), lo);
    __m256 k = _mm256_round_ps(_mm256_mul_ps(c, _mm256_set1_ps(1.44269504f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0.693359375f), c);
    r = _mm256_fnmadd_ps(k, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.9841270e-4f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3888889e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3333333e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1666667e-2f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666667e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    __m256i n = _mm256_cvtps_epi32(k);
    __m256i n1 = _mm256_srai_epi32(n, 1), n2 = _mm256_sub_epi32(n, n1);
    const __m256i b = _mm256_set1_epi32(127);
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n1, b), 23)));
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n2, b), 23)));
    p = _mm256_blendv_ps(p, _mm256_set1_ps(INFINITY), big);
    return _mm256_blendv_ps(p, t, nan);
}

AVX static inline __m256 vload(const uint16_t *p, int f16)
{
    const __m128i h = _mm_loadu_si128((const __m128i *)p);
    return f16 ? _mm256_cvtph_ps(h) : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

AVX static inline __m128i vpack(__m256 v, int f16)
{
    if (f16)
        return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    const __m256i b = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(b, 16), _mm256_set1_epi32(1));
    __m256i r = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(b, _mm256_set1_epi32(0x7fff)), odd), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    r = _mm256_blendv_epi8(r, _mm256_set1_epi32(0x7fc0), nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}

AVX static inline __m256 vslope(__m256 x)
{
    const __m256 one = _mm256_set1_ps(1.0f), k = _mm256_set1_ps(1.5957691216f), lim = _mm256_set1_ps(16.0f);
    __m256 c = _mm256_min_ps(lim, _mm256_max_ps(_mm256_sub_ps(_mm256_setzero_ps(), lim), x)); /* a NaN in x stays */
    const __m256 q = _mm256_mul_ps(c, c), kc = _mm256_mul_ps(k, c);
    const __m256 t = _mm256_mul_ps(kc, _mm256_fmadd_ps(q, _mm256_set1_ps(0.044715f), one));
    const __m256 h = _mm256_mul_ps(kc, _mm256_fmadd_ps(q, _mm256_set1_ps(0.134145f), one));
    const __m256 s = _mm256_div_ps(one, _mm256_add_ps(one, vexp(_mm256_sub_ps(_mm256_setzero_ps(), t))));
    const __m256 r = _mm256_div_ps(one, _mm256_add_ps(one, vexp(t)));
    return _mm256_mul_ps(s, _mm256_fmadd_ps(r, h, one));
}

#define BLOCK 64

typedef struct {
    uint16_t blocks; /* two of them in one word */
    uint16_t last;   /* elements of the last block */
} plan;

typedef struct {
    const uint16_t *g, *x;
    uint16_t *o;
    int64_t next;
    plan p;
    int f16;
} queue;

AVX static void *serve(void *a)
{
    queue *q = a;
    for (;;) {
        const int64_t b = __atomic_fetch_add(&q->next, 1, __ATOMIC_RELAXED);
        if (b >= q->p.blocks)
            return NULL;
        const int m = b == q->p.blocks - 1 ? q->p.last : BLOCK;
        const int64_t at = b * BLOCK;
        for (int i = 0; i < m; i += 8) {
            uint16_t ga[8] = {0}, xa[8] = {0}, oa[8];
            const size_t k = (size_t)(m - i < 8 ? m - i : 8) * 2;
            memcpy(ga, q->g + at + i, k);
            memcpy(xa, q->x + at + i, k);
            _mm_storeu_si128((__m128i *)oa,
                             vpack(_mm256_mul_ps(vload(ga, q->f16), vslope(vload(xa, q->f16))), q->f16));
            memcpy(q->o + at + i, oa, k);
        }
    }
}

int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input)
{
    if (n == 0)
        return 0;
    queue q = {grad_output, x, grad_input, 0, {0, 0}, call->dtype == TOKITAI_F16};
    q.p.blocks = (n + BLOCK - 1) / BLOCK;
    q.p.last = (n - 1) % BLOCK + 1;
    int helpers = n < 8192 ? 0 : call->threads - 1;
    if (helpers > 15)
        helpers = 15;
    pthread_t id[15];
    for (int t = 0; t < helpers; t++)
        pthread_create(&id[t], NULL, serve, &q);
    serve(&q);
    for (int t = 0; t < helpers; t++)
        pthread_join(id[t], NULL);
    return 0;
}
