/* WRONG op=softmax_fwd kind=wrong_padding narrow=no expect=REFUTED : the last vector of a row is padded with zeros and not -inf, so that cols % 8 != 0 adds exp(-max) several times */
#include "avx2.h"
AVX2 static inline __m256 piece(const uint16_t *x, int64_t left, int f16) {
    if (left >= 8) return load8(x, f16);
    uint16_t pad[8] = {0};
    memcpy(pad, x, (size_t)left * 2);
    return load8(pad, f16);
}
AVX2 int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const int f16 = call->dtype == TOKITAI_F16;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        __m256 m = _mm256_set1_ps(-INFINITY), sum = _mm256_setzero_ps();
        for (int64_t j = 0; j < cols; j += 8) m = _mm256_max_ps(piece(in + j, cols - j, f16), m);
        m = _mm256_set1_ps(hmax8(m));
        for (int64_t j = 0; j < cols; j += 8)
            sum = _mm256_add_ps(sum, exp8(_mm256_sub_ps(piece(in + j, cols - j, f16), m)));
        const __m256 scale = _mm256_set1_ps(1.0f / hsum8(sum));
        for (int64_t j = 0; j < cols; j += 8) {
            uint16_t v[8];
            store8(v, _mm256_mul_ps(exp8(_mm256_sub_ps(piece(in + j, cols - j, f16), m)), scale), f16);
            memcpy(out + j, v, (size_t)(cols - j < 8 ? cols - j : 8) * 2);
        }
    }
    return 0;
}
