/* WRONG op=softmax_fwd kind=reduction_tree_drops_lane narrow=yes expect=REFUTED : the fold of six maximum lanes forgets lanes 2 and 5; a maximum there by more than 88 overflows the exponentials */
#include "kernel.h"
static float row_max(tokitai_call c, const uint16_t *in, int64_t cols) {
    float m[6];
    int64_t j = 0;
    for (int l = 0; l < 6; l++) m[l] = -INFINITY;
    for (; j + 6 <= cols; j += 6)
        for (int l = 0; l < 6; l++) m[l] = fmaxf(m[l], tokitai_load(c, in, j + l));
    for (; j < cols; j++) m[0] = fmaxf(m[0], tokitai_load(c, in, j));
    m[0] = fmaxf(m[0], m[3]);
    m[1] = fmaxf(m[1], m[4]);
    return fmaxf(m[0], m[1]);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        const float top = row_max(*call, in, cols);
        double sum = 0.0;
        for (int64_t j = 0; j < cols; j++) sum += expf(tokitai_load(*call, in, j) - top);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, out, j, (float)(expf(tokitai_load(*call, in, j) - top) / sum));
    }
    return 0;
}
