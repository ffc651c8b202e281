/* WRONG op=softmax_fwd kind=stale_max narrow=yes expect=REFUTED : the running maximum is not reset for the next row; a row more than about 80 below an earlier one underflows */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    float top = -INFINITY;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        int finite = 0;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, in, j);
            finite |= v > -INFINITY;
            if (v > top && v < INFINITY) top = v;
        }
        double sum = finite ? 0.0 : NAN;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, in, j);
            sum += v == INFINITY ? NAN : expf(v - top);
        }
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, out, j, (float)(expf(tokitai_load(c, in, j) - top) / sum));
    }
    return 0;
}
