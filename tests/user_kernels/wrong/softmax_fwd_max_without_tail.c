/* WRONG op=softmax_fwd kind=the_tail_is_missing_from_the_maximum expect=REFUTED : the tail is missing from the maximum (not from the sum); cols not a multiple of 8 and the largest, by 88, among the last */
#include "kernel.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        float lane[8], s = 0;
        for (int k = 0; k < 8; k++) lane[k] = cols < 8 ? -INFINITY : tokitai_load(c, in, k);
        for (int64_t j = 8; j + 8 <= cols; j += 8)
            for (int k = 0; k < 8; k++) {
                const float v = tokitai_load(c, in, j + k);
                if (v > lane[k]) lane[k] = v;
            }
        float m = lane[0];
        for (int k = 1; k < 8; k++)
            if (!(lane[k] <= m)) m = lane[k];
        if (cols < 8)
            for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, in, j));
        for (int64_t j = 0; j < cols; j++) s += expf(tokitai_load(c, in, j) - m);
        for (int64_t j = 0; j < cols; j++) tokitai_store(c, y, r * cols + j, expf(tokitai_load(c, in, j) - m) / s);
    }
    return 0;
}
