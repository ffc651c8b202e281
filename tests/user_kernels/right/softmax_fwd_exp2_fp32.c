/* RIGHT op=softmax_fwd kind=exp2_fp32 expect=HELD : exp2f of the scaled difference, all in fp32, sums of 32 first and then of those */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float m = -INFINITY;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, in, j)); /* a NaN shows up in the sum */
        float sum = 0;
        for (int64_t b = 0; b < cols; b += 32) {
            float part = 0;
            for (int64_t j = b; j < b + 32 && j < cols; j++)
                part += exp2f((tokitai_load(c, in, j) - m) * 1.44269504f);
            sum += part;
        }
        const float scale = 1.0f / sum;
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, out, j, exp2f((tokitai_load(c, in, j) - m) * 1.44269504f) * scale);
    }
    return 0;
}
