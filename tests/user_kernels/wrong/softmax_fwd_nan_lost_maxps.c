/* WRONG op=softmax_fwd kind=nan_lost_maxps narrow=no expect=REFUTED : the vector path relies on NaN passing through exp, but its clamp is max_ps(x, lo), which returns lo for a NaN; rows of 8 and more with a NaN in the vector part are finite */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
static inline __m256 exp_ps(__m256 x) {
    const __m256 lo = _mm256_set1_ps(-87.3365f);
    __m256 under = _mm256_cmp_ps(x, lo, _CMP_LT_OQ);
    x = _mm256_max_ps(x, lo);
    __m256 n = _mm256_floor_ps(_mm256_fmadd_ps(x, _mm256_set1_ps(1.44269504f), _mm256_set1_ps(0.5f)));
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.9875691500e-4f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3981999507e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3334519073e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1665795894e-2f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666665459e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(5.0000001201e-1f));
    p = _mm256_fmadd_ps(p, _mm256_mul_ps(r, r), _mm256_add_ps(r, _mm256_set1_ps(1.0f)));
    __m256i e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvttps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_andnot_ps(under, _mm256_mul_ps(p, _mm256_castsi256_ps(e)));
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *xv, void *yv) {
    const uint16_t *x = xv;
    uint16_t *y = yv;
    const int bf = call->dtype == TOKITAI_BF16;
    const int64_t full = cols & ~(int64_t)7;
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        __m256 mv = _mm256_set1_ps(-INFINITY), sv = _mm256_setzero_ps();
        float lane[8], m = -INFINITY, s = 0;
        int64_t j;
        for (j = 0; j < full; j += 8) mv = _mm256_max_ps(ld8(x + j, bf), mv);
        _mm256_storeu_ps(lane, mv);
        for (int k = 0; k < 8; k++) m = fmaxf(m, lane[k]);
        for (; j < cols; j++) m = fmaxf(m, ld1(x[j], bf));
        if (isinf(m)) m = NAN;
        if (m != m) {
            for (j = 0; j < cols; j++) y[j] = 0x7fff;
            continue;
        }
        const __m256 M = _mm256_set1_ps(m);
        for (j = 0; j < full; j += 8) sv = _mm256_add_ps(sv, exp_ps(_mm256_sub_ps(ld8(x + j, bf), M)));
        for (; j < cols; j++) s += expf(ld1(x[j], bf) - m);
        s += hsum(sv);
        const float inv = 1.0f / s;
        for (j = 0; j < full; j += 8)
            st8(y + j, _mm256_mul_ps(exp_ps(_mm256_sub_ps(ld8(x + j, bf), M)), _mm256_set1_ps(inv)), bf);
        for (; j < cols; j++) y[j] = st1(expf(ld1(x[j], bf) - m) * inv, bf);
    }
    return 0;
}
