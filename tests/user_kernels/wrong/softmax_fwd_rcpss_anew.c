/* WRONG op=softmax_fwd kind=reciprocal_of_12_bits_without_a_newton_s expect=REFUTED : reciprocal of 12 bits without a Newton step; both types */
#include <immintrin.h>
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(*call, x, r * cols + j));
        for (int64_t j = 0; j < cols; j++) s += expf(tokitai_load(*call, x, r * cols + j) - m);
        const float inv = _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(s)));
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, y, r * cols + j, expf(tokitai_load(*call, x, r * cols + j) - m) * inv);
    }
    return 0;
}
