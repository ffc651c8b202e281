/* WRONG op=softmax_fwd kind=skip_threshold_too_high narrow=no expect=REFUTED : elements more than 12 below the maximum are taken as zero, though both types can hold their probability */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const float cutoff = 12.0f;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float top = -INFINITY, sum = 0.0f;
        for (int64_t j = 0; j < cols; j++) top = fmaxf(top, tokitai_load(*call, in, j));
        for (int64_t j = 0; j < cols; j++) {
            const float d = top - tokitai_load(*call, in, j);
            if (!(d > cutoff)) sum += expf(-d);
        }
        for (int64_t j = 0; j < cols; j++) {
            const float d = top - tokitai_load(*call, in, j);
            tokitai_store(*call, out, j, d > cutoff && sum == sum ? 0.0f : expf(-d) / sum);
        }
    }
    return 0;
}
