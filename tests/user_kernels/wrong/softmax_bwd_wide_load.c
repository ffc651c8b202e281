/* WRONG op=softmax_bwd kind=out_of_bounds_read narrow=yes expect=REFUTED : the last vector of a row is loaded in full and masked afterwards, which faults where the tensor ends at the end of the mapped memory */
#include "avx2.h"
AVX2 static inline __m256 head8(const uint16_t *p, int64_t left, int f16) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i keep = _mm256_cmpgt_epi32(_mm256_set1_epi32(left < 8 ? (int)left : 8), lane);
    return _mm256_and_ps(load8(p, f16), _mm256_castsi256_ps(keep));
}
AVX2 int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output,
                             const void *y, void *grad_input) {
    const int f16 = call->dtype == TOKITAI_F16;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *v = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        __m256 acc = _mm256_setzero_ps();
        for (int64_t j = 0; j < cols; j += 8)
            acc = _mm256_fmadd_ps(head8(g + j, cols - j, f16), head8(v + j, cols - j, f16), acc);
        const __m256 s = _mm256_set1_ps(hsum8(acc));
        for (int64_t j = 0; j < cols; j += 8) {
            uint16_t last[8];
            store8(last, _mm256_mul_ps(load8(v + j, f16), _mm256_sub_ps(load8(g + j, f16), s)), f16);
            for (int k = 0; k < 8 && j + k < cols; k++) out[j + k] = last[k];
        }
    }
    return 0;
}
