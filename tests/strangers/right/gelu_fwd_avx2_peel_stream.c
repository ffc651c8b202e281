/* RIGHT op=gelu_fwd kind=avx2_peel_stream : AVX2 polynomial exp, peeling to 32 bytes through the same arithmetic, streaming stores when large, threads cut at any element */
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
    int64_t n;
    int f16, stream, alone;
} span;

AVX static void *work(void *p)
{
    const span *s = p;
    const uint16_t *in = s->x;
    uint16_t *out = s->y;
    int64_t i = (int64_t)((0 - (uintptr_t)out) & 31) / 2;
    if (i > s->n)
        i = s->n;
    for (int64_t k = 0; k < i; k += 8)
        tail(in + k, out + k, i - k < 8 ? i - k : 8, s->f16);
    for (; i + 16 <= s->n; i += 16) {
        const __m128i a = vpack(vgelu(vload(in + i, s->f16)), s->f16),
                      b = vpack(vgelu(vload(in + i + 8, s->f16)), s->f16);
        if (s->stream)
            _mm256_stream_si256((__m256i *)(out + i), _mm256_set_m128i(b, a));
        else
            _mm256_store_si256((__m256i *)(out + i), _mm256_set_m128i(b, a));
    }
    for (; i < s->n; i += 8)
        tail(in + i, out + i, s->n - i < 8 ? s->n - i : 8, s->f16);
    _mm_sfence();
    return NULL;
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    enum { MOST = 16 };
    int nt = n < 1000 ? 1 : call->threads > MOST ? MOST : call->threads;
    span s[MOST];
    pthread_t id[MOST];
    int64_t at = 0;
    for (int t = 0; t < nt; t++) {
        const int64_t m = (n - at) / (nt - t);
        s[t] = (span){(const uint16_t *)x + at, (uint16_t *)y + at, m, call->dtype == TOKITAI_F16, n >= 100000, 0};
        at += m;
        s[t].alone = t == nt - 1 || pthread_create(&id[t], NULL, work, &s[t]) != 0;
    }
    for (int t = nt; t-- > 0;)
        if (s[t].alone)
            work(&s[t]);
        else
            pthread_join(id[t], NULL);
    return 0;
}
