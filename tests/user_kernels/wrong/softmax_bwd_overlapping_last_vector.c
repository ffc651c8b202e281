/* WRONG op=softmax_bwd kind=double_counting expect=REFUTED : double counting, the last vector overlaps the one before; cols > 8 and not a multiple of 8 */
#include "avx2.h"
static AVX2 float dot(int f16, const uint16_t *a, const uint16_t *b, int64_t n) {
    __m256 s = _mm256_setzero_ps();
    float l[8];
    int64_t j = 0;
    if (n < 8) {
        float t = 0;
        for (; j < n; j++)
            t += f16 ? tokitai_from_f16(a[j]) * tokitai_from_f16(b[j])
                     : tokitai_from_bf16(a[j]) * tokitai_from_bf16(b[j]);
        return t;
    }
    for (; j + 8 <= n; j += 8) s = _mm256_fmadd_ps(load8_as(f16, a + j), load8_as(f16, b + j), s);
    if (j < n) s = _mm256_fmadd_ps(load8_as(f16, a + n - 8), load8_as(f16, b + n - 8), s);
    _mm256_storeu_ps(l, s);
    return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        const float s = dot(c.dtype == TOKITAI_F16, g, p, cols);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, grad_input, r * cols + j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
    }
    return 0;
}
