/* WRONG op=softmax_bwd kind=stale_state narrow=yes expect=REFUTED : partial sums stand in a buffer kept between calls and are added up in fours, which brings in old ones after a call with more columns */
#include "kernel.h"
#define BLOCK 32
#define PARTS 256
static _Thread_local double partial[PARTS];
static double span(const tokitai_call c, const uint16_t *g, const uint16_t *y, int64_t n) {
    double s = 0;
    for (int64_t j = 0; j < n; j++) s += (double)tokitai_load(c, g, j) * tokitai_load(c, y, j);
    return s;
}
static double dot(const tokitai_call c, const uint16_t *g, const uint16_t *y, int64_t n) {
    if (n > BLOCK * PARTS)
        return dot(c, g, y, BLOCK * PARTS) + dot(c, g + BLOCK * PARTS, y + BLOCK * PARTS, n - BLOCK * PARTS);
    int used = 0;
    for (int64_t b = 0; b < n; b += BLOCK) partial[used++] = span(c, g + b, y + b, n - b < BLOCK ? n - b : BLOCK);
    double s = 0;
    for (int k = 0; k < used; k += 4) /* unused ones are zero */
        s += (partial[k] + partial[k + 1]) + (partial[k + 2] + partial[k + 3]);
    return s;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *v = (const uint16_t *)y + r * cols;
        const double s = dot(c, g, v, cols);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, (uint16_t *)grad_input + r * cols, j,
                          (float)(tokitai_load(c, v, j) * (tokitai_load(c, g, j) - s)));
    }
    return 0;
}
