/* WRONG op=softmax_fwd kind=unshifted_sum_overflow narrow=yes expect=REFUTED : rows with a maximum in [0, 88) are not shifted; three elements near 88 already overflow the sum to infinity */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float top = -INFINITY;
        for (int64_t j = 0; j < cols; j++) top = fmaxf(top, tokitai_load(c, in, j));
        /* exp itself is in range here, so that the subtraction can be saved */
        const float shift = top >= 0.0f && top < 88.0f ? 0.0f : top;
        float sum = 0.0f;
        for (int64_t j = 0; j < cols; j++) sum += expf(tokitai_load(c, in, j) - shift);
        for (int64_t j = 0; j < cols; j++) tokitai_store(c, out, j, expf(tokitai_load(c, in, j) - shift) / sum);
    }
    return 0;
}
