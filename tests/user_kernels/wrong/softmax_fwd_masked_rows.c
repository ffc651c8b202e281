/* WRONG op=softmax_fwd kind=neg_inf_row narrow=yes expect=REFUTED : a row of nothing but -inf gives zeros and not NaN */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float m = -INFINITY;
        int nan = 0;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, in, j);
            m = v > m ? v : m;
            nan |= v != v;
        }
        if (m == -INFINITY && !nan) { /* masked out altogether */
            memset(out, 0, (size_t)cols * 2);
            continue;
        }
        double sum = 0;
        for (int64_t b = 0; b < cols; b += 128) {
            float part = 0;
            for (int64_t j = b; j < b + 128 && j < cols; j++)
                part += exp2f((tokitai_load(c, in, j) - m) * 1.44269504f);
            sum += part;
        }
        const float scale = (float)(1.0 / sum);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, out, j, exp2f((tokitai_load(c, in, j) - m) * 1.44269504f) * scale);
    }
    return 0;
}
