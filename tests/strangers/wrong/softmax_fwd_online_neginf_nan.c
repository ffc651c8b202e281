/* WRONG op=softmax_fwd kind=online_neginf_nan narrow=yes : the online update of a SIMD lane that has seen only -inf so far does exp(-inf - -inf) = NaN; rows of 16 or more columns with -inf at j and j + 8, j < 8, while others are finite */
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
static float fast_exp(float x)
{
    return expf(x);
}
static void row(const uint16_t *x, uint16_t *y, int64_t n, int bf)
{
    float m[8], s[8];
    int64_t j = 0;
    float M, S;
    if (n >= 16) {
        for (int l = 0; l < 8; l++) {
            m[l] = ld1(x[l], bf);
            s[l] = 1.0f;
        }
        for (j = 8; j + 8 <= n; j += 8) {
            float v[8];
            _mm256_storeu_ps(v, ld8(x + j, bf));
            for (int l = 0; l < 8; l++) {
                float mn = v[l] > m[l] ? v[l] : m[l];
                if (v[l] != v[l])
                    mn = v[l];
                s[l] = s[l] * fast_exp(m[l] - mn) + fast_exp(v[l] - mn);
                m[l] = mn;
            }
        }
        M = m[0];
        for (int l = 1; l < 8; l++)
            if (m[l] > M || m[l] != m[l])
                M = m[l];
        S = 0;
        for (int l = 0; l < 8; l++)
            S += s[l] * fast_exp(m[l] - M);
    } else {
        M = -INFINITY;
        S = 0;
    }
    for (; j < n; j++) { /* the tail: the same, one lane, guarded */
        float v = ld1(x[j], bf);
        if (v == -INFINITY)
            continue;
        float mn = v > M ? v : M;
        if (v != v || M != M)
            mn = NAN;
        S = (M == -INFINITY ? 0 : S * fast_exp(M - mn)) + fast_exp(v - mn);
        M = mn;
    }
    float inv = 1.0f / S;
    if (M == -INFINITY || M == INFINITY)
        inv = NAN;
    for (j = 0; j < n; j++)
        y[j] = st1(fast_exp(ld1(x[j], bf) - M) * inv, bf);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    for (int64_t r = 0; r < rows; r++)
        row((const uint16_t *)x + r * cols, (uint16_t *)y + r * cols, cols, call->dtype == TOKITAI_BF16);
    return 0;
}
