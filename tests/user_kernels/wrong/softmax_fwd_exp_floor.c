/* WRONG op=softmax_fwd kind=exp_clamp narrow=yes expect=REFUTED : the exponent is not let below -87, so that in bf16 -inf and elements far below the maximum give about 1.6e-38 / sum and not 0 */
#include "avx2.h"
AVX2 static inline __m256 term(const uint16_t *x, __m256 m, int f16) {
    const __m256 d = _mm256_sub_ps(load8(x, f16), m);
    return exp8(_mm256_max_ps(_mm256_set1_ps(-87.0f), d)); /* keeps the result normal; NaN stays */
}
AVX2 int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const int f16 = call->dtype == TOKITAI_F16;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols, pad[8];
        const int64_t body = cols & ~(int64_t)7, rest = cols - body;
        for (int k = 0; k < 8; k++) pad[k] = k < rest ? in[body + k] : f16 ? 0xfc00 : 0xff80;
        __m256 m = rest ? load8(pad, f16) : _mm256_set1_ps(-INFINITY);
        for (int64_t j = 0; j < body; j += 8) m = _mm256_max_ps(load8(in + j, f16), m);
        m = _mm256_set1_ps(hmax8(m));
        __m256 sum = rest ? term(pad, m, f16) : _mm256_setzero_ps();
        for (int64_t j = 0; j < body; j += 8) sum = _mm256_add_ps(sum, term(in + j, m, f16));
        const __m256 scale = _mm256_set1_ps(1.0f / hsum8(sum));
        for (int64_t j = 0; j < body; j += 8) store8(out + j, _mm256_mul_ps(term(in + j, m, f16), scale), f16);
        if (rest) {
            store8(pad, _mm256_mul_ps(term(pad, m, f16), scale), f16);
            memcpy(out + body, pad, (size_t)rest * 2);
        }
    }
    return 0;
}
