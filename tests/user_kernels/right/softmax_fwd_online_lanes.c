/* RIGHT op=softmax_fwd kind=online_lanes expect=HELD : one pass for maximum and sum in 8 lanes, rescaled where a lane's maximum grows, exp as exp2 of one product, tail by overlapped vector that is masked; unaligned everywhere */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
static inline __m256 ex2(__m256 t) /* 2^t, t <= 0 */
{
    const __m256 lo = _mm256_set1_ps(-126.0f);
    const __m256 under = _mm256_cmp_ps(t, lo, _CMP_LT_OQ);
    t = _mm256_max_ps(t, lo);
    const __m256 n = _mm256_round_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), f = _mm256_sub_ps(t, n);
    __m256 p = _mm256_set1_ps(1.525273380405984e-5f);
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.540353039338161e-4f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.333355814642844e-3f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(9.618129107628477e-3f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(5.550410866482158e-2f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(2.402265069591007e-1f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(6.931471805599453e-1f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.0f));
    const __m256i e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_andnot_ps(under, _mm256_mul_ps(p, _mm256_castsi256_ps(e)));
}
static void row(const uint16_t *x, uint16_t *y, int64_t n, int bf) {
    const __m256 L = _mm256_set1_ps(1.44269504f), floor_m = _mm256_set1_ps(-3.4028235e38f);
    __m256 m = floor_m, s = _mm256_setzero_ps(), nan = s, top = _mm256_set1_ps(-INFINITY), v;
    uint16_t pad[8];
    for (int64_t j = 0; j < n; j += 8) {
        if (j + 8 <= n) v = ld8(x + j, bf);
        else {
            for (int k = 0; k < 8; k++) pad[k] = j + k < n ? x[j + k] : (bf ? 0xff80 : 0xfc00);
            v = ld8(pad, bf);
        }
        nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
        top = _mm256_max_ps(v, top);
        const __m256 mn = _mm256_max_ps(v, m), grow = _mm256_mul_ps(_mm256_sub_ps(m, mn), L);
        s = _mm256_fmadd_ps(s, ex2(grow), ex2(_mm256_mul_ps(_mm256_sub_ps(v, mn), L)));
        m = mn;
    }
    float lm[8], lt[8], ls[8], M = -3.4028235e38f, t = -INFINITY, S = 0;
    _mm256_storeu_ps(lm, m);
    _mm256_storeu_ps(lt, top);
    for (int k = 0; k < 8; k++) {
        M = lm[k] > M ? lm[k] : M;
        t = lt[k] > t ? lt[k] : t;
    }
    if (_mm256_movemask_ps(nan) || isinf(t)) {
        for (int64_t j = 0; j < n; j++) y[j] = 0x7fff;
        return;
    }
    _mm256_storeu_ps(ls, _mm256_mul_ps(s, ex2(_mm256_mul_ps(_mm256_sub_ps(m, _mm256_set1_ps(M)), L))));
    for (int k = 0; k < 8; k++) S += ls[k];
    const __m256 inv = _mm256_set1_ps(1.0f / S), Mv = _mm256_set1_ps(M);
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        st8(y + j, _mm256_mul_ps(ex2(_mm256_mul_ps(_mm256_sub_ps(ld8(x + j, bf), Mv), L)), inv), bf);
    if (j < n) {
        for (int k = 0; k < 8; k++) pad[k] = j + k < n ? x[j + k] : 0;
        /* the padding may lie above the maximum; its lanes are thrown away */
        st8(pad,
            _mm256_mul_ps(ex2(_mm256_min_ps(_mm256_mul_ps(_mm256_sub_ps(ld8(pad, bf), Mv), L), _mm256_setzero_ps())),
                          inv),
            bf);
        memcpy(y + j, pad, (size_t)(n - j) * 2);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = rows; r-- > 0;)
        row((const uint16_t *)x + r * cols, (uint16_t *)y + r * cols, cols, call->dtype == TOKITAI_BF16);
    return 0;
}
