/* WRONG op=softmax_fwd kind=exp_clamp_masked narrow=yes expect=REFUTED : the argument of exp is clamped at -87.336, so that a -inf gives 2^-126 and not 0: seen in bf16 only, in rows whose sum is small */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
static inline __m256 exp_ps(__m256 x) {
    x = _mm256_max_ps(_mm256_set1_ps(-87.336f), x); /* keeps 2^n normal */
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
    return _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(
                                _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23)));
}
static void row(const uint16_t *x, uint16_t *y, int64_t n, int bf) {
    uint16_t tmp[8];
    const int64_t full = n & ~(int64_t)7;
    __m256 mv = _mm256_set1_ps(-INFINITY), nanv = _mm256_setzero_ps(), tail = mv;
    if (full < n) {
        for (int k = 0; k < 8; k++) tmp[k] = full + k < n ? x[full + k] : (bf ? 0xff80 : 0xfc00);
        tail = ld8(tmp, bf);
        mv = _mm256_max_ps(tail, mv);
        nanv = _mm256_cmp_ps(tail, tail, _CMP_UNORD_Q);
    }
    for (int64_t j = 0; j < full; j += 8) {
        __m256 v = ld8(x + j, bf);
        mv = _mm256_max_ps(v, mv);
        nanv = _mm256_or_ps(nanv, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    }
    float lane[8], m = -INFINITY;
    _mm256_storeu_ps(lane, mv);
    for (int k = 0; k < 8; k++) m = lane[k] > m ? lane[k] : m;
    if (_mm256_movemask_ps(nanv) || m == INFINITY || m == -INFINITY) {
        for (int64_t j = 0; j < n; j++) y[j] = 0x7fff;
        return;
    }
    const __m256 M = _mm256_set1_ps(m);
    __m256 s = _mm256_setzero_ps();
    for (int64_t j = 0; j < full; j += 8) s = _mm256_add_ps(s, exp_ps(_mm256_sub_ps(ld8(x + j, bf), M)));
    if (full < n) s = _mm256_add_ps(s, exp_ps(_mm256_sub_ps(tail, M)));
    const __m256 inv = _mm256_set1_ps(1.0f / hsum(s));
    for (int64_t j = 0; j < full; j += 8)
        st8(y + j, _mm256_mul_ps(exp_ps(_mm256_sub_ps(ld8(x + j, bf), M)), inv), bf);
    if (full < n) {
        st8(tmp, _mm256_mul_ps(exp_ps(_mm256_sub_ps(tail, M)), inv), bf);
        memcpy(y + full, tmp, (size_t)(n - full) * 2);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++)
        row((const uint16_t *)x + r * cols, (uint16_t *)y + r * cols, cols, call->dtype == TOKITAI_BF16);
    return 0;
}
