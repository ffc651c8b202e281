/* WRONG op=softmax_fwd kind=peel_misaligned_store narrow=yes : peels elements until x is aligned to 16 bytes and then stores y with aligned stores: faults where x and y are not aligned alike (rows of 16 and more) */
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
/* exp for x <= 0, NaN stays NaN */
static inline __m256 exp8(__m256 x)
{
    const __m256 lo = _mm256_set1_ps(-87.3365f);
    __m256 under = _mm256_cmp_ps(x, lo, _CMP_LT_OQ);
    x = _mm256_max_ps(lo, x);
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.0f / 5040);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 720));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    __m256i e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_andnot_ps(under, _mm256_mul_ps(p, _mm256_castsi256_ps(e)));
}
static void row(const uint16_t *x, uint16_t *y, int64_t n, int bf)
{
    int64_t j, peel = (int64_t)((16 - ((uintptr_t)x & 15)) & 15) / 2;
    if (n < 16)
        peel = n;
    const int64_t end = peel + ((n - peel) & ~(int64_t)7);
    float m = -INFINITY, s = 0;
    int bad = 0;
    for (j = 0; j < n; j++) {
        float v = ld1(x[j], bf);
        bad |= v != v;
        m = v > m ? v : m;
    }
    if (bad || isinf(m)) {
        for (j = 0; j < n; j++)
            y[j] = 0x7fff;
        return;
    }
    const __m256 M = _mm256_set1_ps(m);
    __m256 sv = _mm256_setzero_ps();
    for (j = 0; j < peel; j++)
        s += expf(ld1(x[j], bf) - m);
    for (; j < end; j += 8)
        sv = _mm256_add_ps(sv, exp8(_mm256_sub_ps(ld8(x + j, bf), M)));
    for (; j < n; j++)
        s += expf(ld1(x[j], bf) - m);
    s += hsum8(sv);
    const float inv = 1.0f / s;
    for (j = 0; j < peel; j++)
        y[j] = st1(expf(ld1(x[j], bf) - m) * inv, bf);
    for (; j < end; j += 8)
        _mm_store_si128((__m128i *)(y + j),
                        pack8(_mm256_mul_ps(exp8(_mm256_sub_ps(ld8(x + j, bf), M)), _mm256_set1_ps(inv)), bf));
    for (; j < n; j++)
        y[j] = st1(expf(ld1(x[j], bf) - m) * inv, bf);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    for (int64_t r = 0; r < rows; r++)
        row((const uint16_t *)x + r * cols, (uint16_t *)y + r * cols, cols, call->dtype == TOKITAI_BF16);
    return 0;
}
