/* WRONG op=gelu_fwd kind=float_partition narrow=yes : shares come from ceilf((float)n / threads): for n > 2^24 that fp32 rounds down, such as 16777217 with 2 threads, the last elements are not written */
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

AVX static inline __m256 vgelu(__m256 x)
{
    __m256 q = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(0.044715f), _mm256_set1_ps(1.0f));
    __m256 t = _mm256_mul_ps(_mm256_mul_ps(x, _mm256_set1_ps(-1.5957691216f)), q);
    return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0f), vexp(t)));
}

AVX static void tail(const uint16_t *x, uint16_t *y, int64_t m, int f16)
{
    uint16_t a[8] = {0}, b[8];
    memcpy(a, x, (size_t)m * 2);
    _mm_storeu_si128((__m128i *)b, vpack(vgelu(vload(a, f16)), f16));
    memcpy(y, b, (size_t)m * 2);
}

typedef struct {
    const uint16_t *x;
    uint16_t *y;
    int64_t count;
    int f16;
} span;

AVX static void *work(void *p)
{
    const span *s = p;
    int64_t i = 0;
    for (; i + 8 <= s->count; i += 8)
        _mm_storeu_si128((__m128i *)(s->y + i), vpack(vgelu(vload(s->x + i, s->f16)), s->f16));
    if (i < s->count)
        tail(s->x + i, s->y + i, s->count - i, s->f16);
    return NULL;
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    const int threads = call->threads > 64 ? 64 : call->threads;
    const int f16 = call->dtype == TOKITAI_F16;
    if (threads == 1 || n < 1 << 15) {
        span all = {x, y, n, f16};
        work(&all);
        return 0;
    }
    span s[64];
    pthread_t id[64];
    const int64_t share = (int64_t)ceilf((float)n / (float)threads);
    for (int t = 0; t < threads; t++) {
        const int64_t b = t * share;
        int64_t c = n - b;
        c = c < 0 ? 0 : c > share ? share : c;
        s[t] = (span){(const uint16_t *)x + b, (uint16_t *)y + b, c, f16};
        pthread_create(&id[t], NULL, work, &s[t]);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(id[t], NULL);
    return 0;
}
