/* WRONG op=softmax_fwd kind=fixed_scratch narrow=yes expect=REFUTED : exponentials are kept in a buffer of 16384 that wraps around, so that rows of more columns get those of other columns */
#include "kernel.h"
#define SLOTS 16384 /* a power of two, so that the index needs no branch */
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    float *e = malloc(SLOTS * sizeof(float));
    if (!e) return 1;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float m = -INFINITY;
        double sum = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, in, j));
        for (int64_t j = 0; j < cols; j++) {
            e[j & (SLOTS - 1)] = expf(tokitai_load(c, in, j) - m);
            sum += e[j & (SLOTS - 1)];
        }
        const double scale = 1.0 / sum;
        for (int64_t j = 0; j < cols; j++) tokitai_store(c, out, j, (float)(e[j & (SLOTS - 1)] * scale));
    }
    free(e);
    return 0;
}
