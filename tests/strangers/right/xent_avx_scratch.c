/* RIGHT op=xent kind=avx_scratch : AVX2, a polynomial for exp, exp values kept in a per-thread scratch that grows and stays between calls, target's exp zeroed there before the sum, multiplies by 1 / Z */
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
static _Thread_local float *scratch;
static _Thread_local int64_t scratch_cap;
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv)
{
    const int bf = call->dtype == TOKITAI_BF16;
    const float eps = call->label_smoothing, alpha = call->scale, q = (float)((double)eps / (double)cols);
    const int64_t padded = (cols + 7) & ~(int64_t)7;
    if (padded > scratch_cap) {
        free(scratch);
        scratch = malloc((size_t)padded * sizeof *scratch);
        scratch_cap = scratch ? padded : 0;
        if (!scratch)
            return 1;
    }
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)lv + r * cols;
        uint16_t *o = (uint16_t *)gv + r * cols;
        float *e = scratch;
        const int64_t t = tokitai_load_index(*call, tv, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            if (cols)
                memset(o, 0, (size_t)cols * 2);
            continue;
        }
        int64_t j = 0;
        for (; j + 8 <= cols; j += 8)
            _mm256_storeu_ps(e + j, ld8(x + j, bf));
        for (; j < padded; j++)
            e[j] = j < cols ? ld1(x[j], bf) : -INFINITY;
        __m256 mv = _mm256_set1_ps(-INFINITY), nan = _mm256_setzero_ps();
        for (j = 0; j < padded; j += 8) {
            const __m256 v = _mm256_loadu_ps(e + j);
            mv = _mm256_max_ps(v, mv);
            nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
        }
        float lane[8], m = -INFINITY;
        _mm256_storeu_ps(lane, mv);
        for (int k = 0; k < 8; k++)
            m = lane[k] > m ? lane[k] : m;
        if (_mm256_movemask_ps(nan) || isinf(m)) {
            loss[r] = NAN;
            for (j = 0; j < cols; j++)
                o[j] = 0x7fff;
            continue;
        }
        const __m256 M = _mm256_set1_ps(m);
        const float dt = m - e[t];
        double sd = 0;
        if (eps > 0)
            for (j = cols; j-- > 0;)
                sd += (double)m - e[j];
        for (j = 0; j < padded; j += 8)
            _mm256_storeu_ps(e + j, exp8(_mm256_sub_ps(_mm256_loadu_ps(e + j), M)));
        const float et = e[t];
        e[t] = 0;
        __m256 a = _mm256_setzero_ps(), b = a;
        for (j = 0; j + 16 <= padded; j += 16) {
            a = _mm256_add_ps(a, _mm256_loadu_ps(e + j));
            b = _mm256_add_ps(b, _mm256_loadu_ps(e + j + 8));
        }
        if (j < padded)
            a = _mm256_add_ps(a, _mm256_loadu_ps(e + j));
        const float others = hsum8(_mm256_add_ps(a, b)), z = others + et, inv = 1.0f / z;
        double l = log(z);
        if (eps < 1)
            l += (1.0 - eps) * dt;
        if (eps > 0)
            l += (double)eps / (double)cols * sd;
        loss[r] = (float)l;
        const __m256 qv = _mm256_set1_ps(q), al = _mm256_set1_ps(alpha), iv = _mm256_set1_ps(inv);
        const uint16_t gt = st1(alpha * ((float)((double)eps * (double)(cols - 1) / (double)cols) - others * inv),
                                bf);
        for (j = 0; j + 8 <= cols; j += 8)
            st8(o + j, _mm256_mul_ps(al, _mm256_sub_ps(_mm256_mul_ps(_mm256_loadu_ps(e + j), iv), qv)), bf);
        for (; j < cols; j++)
            o[j] = st1(alpha * (e[j] * inv - q), bf);
        o[t] = gt;
    }
    return 0;
}
