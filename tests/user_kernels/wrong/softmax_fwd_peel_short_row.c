/* WRONG op=softmax_fwd kind=write_past_end narrow=yes expect=REFUTED : the scalar peel up to a 32-byte boundary of the output is not limited to the row, so that the last row writes past the end where cols is less than the peel */
#include "avx2.h"
AVX2 static void emit_row(const tokitai_call c, const uint16_t *x, uint16_t *y, int64_t n, float m, float scale) {
    const int f16 = c.dtype == TOKITAI_F16;
    const __m256 top = _mm256_set1_ps(m), by = _mm256_set1_ps(scale);
    int64_t j = 0;
    for (; (uintptr_t)(y + j) & 31; j++)
        tokitai_store(c, y, j, j < n ? expf(tokitai_load(c, x, j) - m) * scale : 0.0f);
    for (; j + 8 <= n; j += 8) {
        const __m256 e = exp8(_mm256_sub_ps(load8(x + j, f16), top));
        _mm_store_si128((__m128i *)(y + j), pack8(_mm256_mul_ps(e, by), f16));
    }
    for (; j < n; j++) tokitai_store(c, y, j, expf(tokitai_load(c, x, j) - m) * scale);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows && cols > 0; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        float m = -INFINITY;
        double sum = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, in, j));
        for (int64_t j = 0; j < cols; j++) sum += expf(tokitai_load(c, in, j) - m);
        emit_row(c, in, (uint16_t *)y + r * cols, cols, m, (float)(1.0 / sum));
    }
    return 0;
}
