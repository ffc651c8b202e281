/* WRONG op=xent kind=others_by_subtraction narrow=yes : rows of 128 classes and more, summed in vectors, take the sum of the other classes as Z - exp(-d_t): cancels where the target has nearly all the probability */
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
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv)
{
    const int bf = call->dtype == TOKITAI_BF16;
    const float eps = call->label_smoothing, alpha = call->scale;
    const float q = (float)((double)eps / (double)cols),
                at = (float)((double)eps * (double)(cols - 1) / (double)cols);
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)lv + r * cols;
        uint16_t *o = (uint16_t *)gv + r * cols;
        const int64_t t = tokitai_load_index(*call, tv, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(o, 0, (size_t)cols * 2);
            continue;
        }
        float m = -INFINITY;
        double sd = 0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const float v = ld1(x[j], bf);
            bad |= v != v || v == INFINITY;
            m = v > m ? v : m;
        }
        if (bad || m == -INFINITY) {
            loss[r] = NAN;
            for (int64_t j = 0; j < cols; j++)
                o[j] = 0x7fff;
            continue;
        }
        const float dt = m - ld1(x[t], bf), et = expf(-dt);
        float others = 0, z;
        int64_t j = 0;
        if (cols >= 128) {
            __m256 a = _mm256_setzero_ps(), b = a;
            for (; j + 16 <= cols; j += 16) {
                a = _mm256_add_ps(a, exp8(_mm256_sub_ps(ld8(x + j, bf), _mm256_set1_ps(m))));
                b = _mm256_add_ps(b, exp8(_mm256_sub_ps(ld8(x + j + 8, bf), _mm256_set1_ps(m))));
            }
            z = hsum8(_mm256_add_ps(a, b));
            for (; j < cols; j++)
                z += expf(ld1(x[j], bf) - m);
            others = z - et;
        } else {
            for (; j < cols; j++)
                if (j != t)
                    others += expf(ld1(x[j], bf) - m);
            z = others + et;
        }
        if (eps > 0)
            for (j = 0; j < cols; j++)
                sd += (double)m - ld1(x[j], bf);
        double l = logf(z);
        if (eps < 1)
            l += (1.0 - eps) * dt;
        if (eps > 0)
            l += (double)eps / (double)cols * sd;
        loss[r] = (float)l;
        const float inv = 1.0f / z, gt = alpha * (at - others * inv);
        for (j = 0; j < cols; j++)
            o[j] = st1(j == t ? gt : alpha * (expf(ld1(x[j], bf) - m) * inv - q), bf);
    }
    return 0;
}
