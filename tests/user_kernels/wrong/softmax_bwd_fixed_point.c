/* WRONG op=softmax_bwd kind=fixed_point_sum narrow=yes expect=REFUTED : the dot product is added up in units of 2^-40 in 64 bits, which loses small products and wraps for sums from 2^23 on */
#include "kernel.h"
/* Exact in any order, so that rows could be split freely. */
static double dot(const tokitai_call c, const uint16_t *g, const uint16_t *y, int64_t n) {
    uint64_t units = 0;
    for (int64_t j = 0; j < n; j++) {
        const double p = (double)tokitai_load(c, g, j) * tokitai_load(c, y, j) * 0x1p40;
        if (!(fabs(p) < 0x1p63)) return NAN;
        units += (uint64_t)llrint(p);
    }
    return (double)(int64_t)units * 0x1p-40;
}
static double plain(const tokitai_call c, const uint16_t *g, const uint16_t *y, int64_t n) {
    double s = 0;
    for (int64_t j = 0; j < n; j++) s += (double)tokitai_load(c, g, j) * tokitai_load(c, y, j);
    return s;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *v = (const uint16_t *)y + r * cols;
        double s = dot(c, g, v, cols);
        if (s != s) s = plain(c, g, v, cols);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, (uint16_t *)grad_input + r * cols, j,
                          (float)(tokitai_load(c, v, j) * (tokitai_load(c, g, j) - s)));
    }
    return 0;
}
