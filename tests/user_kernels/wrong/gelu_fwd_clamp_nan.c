/* WRONG op=gelu_fwd kind=nan_dropped narrow=yes expect=REFUTED : the argument is clamped with min_ps, which gives its second operand for a NaN, so that NaN becomes 12 */
#include "avx2.h"
AVX2 static inline __m256 limited8(__m256 x) {
    const __m256 hi = _mm256_set1_ps(12.0f), lo = _mm256_set1_ps(-13.0f);
    const __m256 y = gelu8(_mm256_max_ps(_mm256_min_ps(x, hi), lo));
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(x, hi, _CMP_GT_OQ)); /* the identity up there */
}
AVX2 int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) store8(out + i, limited8(load8(in + i, f16)), f16);
    if (i < n) {
        uint16_t pad[8] = {0};
        memcpy(pad, in + i, (size_t)(n - i) * 2);
        store8(pad, limited8(load8(pad, f16)), f16);
        memcpy(out + i, pad, (size_t)(n - i) * 2);
    }
    return 0;
}
