/* WRONG op=softmax_fwd kind=size_fast_path narrow=yes expect=REFUTED : the path for exactly 1024 columns keeps eight accumulators and adds up seven of them */
#include "avx2.h"
AVX2 static void row1024(const uint16_t *x, uint16_t *y, int f16) {
    __m256 m = _mm256_set1_ps(-INFINITY), acc[8];
    for (int j = 0; j < 1024; j += 8) m = _mm256_max_ps(load8(x + j, f16), m);
    m = _mm256_set1_ps(hmax8(m));
    for (int k = 0; k < 8; k++) acc[k] = _mm256_setzero_ps();
    for (int j = 0; j < 1024; j += 64)
        for (int k = 0; k < 8; k++) acc[k] = _mm256_add_ps(acc[k], exp8(_mm256_sub_ps(load8(x + j + 8 * k, f16), m)));
    const __m256 left = _mm256_add_ps(_mm256_add_ps(acc[0], acc[1]), _mm256_add_ps(acc[2], acc[3]));
    const __m256 right = _mm256_add_ps(_mm256_add_ps(acc[4], acc[5]), acc[6]);
    const __m256 scale = _mm256_set1_ps(1.0f / hsum8(_mm256_add_ps(left, right)));
    for (int j = 0; j < 1024; j += 8)
        store8(y + j, _mm256_mul_ps(exp8(_mm256_sub_ps(load8(x + j, f16), m)), scale), f16);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        if (cols == 1024) {
            row1024(in, out, c.dtype == TOKITAI_F16);
            continue;
        }
        float m = -INFINITY;
        double sum = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, in, j));
        for (int64_t j = 0; j < cols; j++) sum += expf(tokitai_load(c, in, j) - m);
        for (int64_t j = 0; j < cols; j++) tokitai_store(c, out, j, (float)(expf(tokitai_load(c, in, j) - m) / sum));
    }
    return 0;
}
