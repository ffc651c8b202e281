/* WRONG op=gelu_fwd kind=rcp_no_newton narrow=no expect=REFUTED : the division is a 12-bit reciprocal estimate without a Newton step */
#include "avx2.h"
AVX2 static inline __m256 own_gelu8(__m256 x) {
    const __m256 q = _mm256_fmadd_ps(_mm256_set1_ps(-0.0713548163f), _mm256_mul_ps(x, x),
                                     _mm256_set1_ps(-1.59576912f));
    const __m256 e = exp8(_mm256_mul_ps(x, q));
    return _mm256_mul_ps(x, _mm256_rcp_ps(_mm256_add_ps(_mm256_set1_ps(1.0f), e)));
}
AVX2 int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    const int f16 = call->dtype == TOKITAI_F16;
    for (int64_t i = 0; i < n; i += 8) {
        if (n - i >= 8) {
            store8(out + i, own_gelu8(load8(in + i, f16)), f16);
            continue;
        }
        uint16_t pad[8] = {0};
        memcpy(pad, in + i, (size_t)(n - i) * 2);
        store8(pad, own_gelu8(load8(pad, f16)), f16);
        memcpy(out + i, pad, (size_t)(n - i) * 2);
    }
    return 0;
}
