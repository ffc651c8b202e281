/* WRONG op=softmax_bwd kind=dropped_tail narrow=no expect=REFUTED : the dot product leaves out the columns after the last full vector of 8 */
#include "avx2.h"
AVX2 int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output,
                             const void *y, void *grad_input) {
    const tokitai_call c = *call;
    const int f16 = c.dtype == TOKITAI_F16;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        __m256 acc = _mm256_setzero_ps();
        int64_t j = 0;
        for (; j + 8 <= cols; j += 8) acc = _mm256_fmadd_ps(load8(g + j, f16), load8(p + j, f16), acc);
        const float s = hsum8(acc);
        const __m256 all = _mm256_set1_ps(s);
        for (j = 0; j + 8 <= cols; j += 8)
            store8(out + j, _mm256_mul_ps(load8(p + j, f16), _mm256_sub_ps(load8(g + j, f16), all)), f16);
        for (; j < cols; j++) tokitai_store(c, out, j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
    }
    return 0;
}
