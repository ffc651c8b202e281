/* WRONG op=softmax_fwd kind=online_neginf_nan narrow=yes expect=REFUTED : the online update of a SIMD lane that has seen only -inf so far does exp(-inf - -inf) = NaN; rows of 16 or more columns with -inf at j and j + 8, j < 8, while others are finite */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
static float fast_exp(float x) { return expf(x); }
static void row(const uint16_t *x, uint16_t *y, int64_t n, int bf) {
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
                if (v[l] != v[l]) mn = v[l];
                s[l] = s[l] * fast_exp(m[l] - mn) + fast_exp(v[l] - mn);
                m[l] = mn;
            }
        }
        M = m[0];
        for (int l = 1; l < 8; l++)
            if (m[l] > M || m[l] != m[l]) M = m[l];
        S = 0;
        for (int l = 0; l < 8; l++) S += s[l] * fast_exp(m[l] - M);
    } else {
        M = -INFINITY;
        S = 0;
    }
    for (; j < n; j++) { /* the tail: the same, one lane, guarded */
        float v = ld1(x[j], bf);
        if (v == -INFINITY) continue;
        float mn = v > M ? v : M;
        if (v != v || M != M) mn = NAN;
        S = (M == -INFINITY ? 0 : S * fast_exp(M - mn)) + fast_exp(v - mn);
        M = mn;
    }
    float inv = 1.0f / S;
    if (M == -INFINITY || M == INFINITY) inv = NAN;
    for (j = 0; j < n; j++) y[j] = st1(fast_exp(ld1(x[j], bf) - M) * inv, bf);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++)
        row((const uint16_t *)x + r * cols, (uint16_t *)y + r * cols, cols, call->dtype == TOKITAI_BF16);
    return 0;
}
