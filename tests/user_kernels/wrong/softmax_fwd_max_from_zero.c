/* WRONG op=softmax_fwd kind=wrong_max_identity narrow=yes expect=REFUTED : the vector maximum starts at 0, so that rows of large negative values underflow */
#include "avx2.h"
AVX2 static float top(const tokitai_call c, const uint16_t *x, int64_t n) {
    __m256 a = _mm256_setzero_ps(), b = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 16 <= n; j += 16) {
        a = _mm256_max_ps(load8(x + j, c.dtype == TOKITAI_F16), a);
        b = _mm256_max_ps(load8(x + j + 8, c.dtype == TOKITAI_F16), b);
    }
    float m = hmax8(_mm256_max_ps(a, b));
    for (; j < n; j++) m = fmaxf(m, tokitai_load(c, x, j));
    return m;
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        const float m = top(c, in, cols);
        double sum = 0;
        for (int64_t j = 0; j < cols; j++) sum += expf(tokitai_load(c, in, j) - m);
        const float scale = (float)(1.0 / sum);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, (uint16_t *)y + r * cols, j, expf(tokitai_load(c, in, j) - m) * scale);
    }
    return 0;
}
