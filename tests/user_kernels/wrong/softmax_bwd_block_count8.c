/* WRONG op=softmax_bwd kind=index_overflow narrow=yes expect=REFUTED : the blocks of 256 columns are counted in 8 bits, so that the dot product misses columns from 65536 columns on */
#include "kernel.h"
typedef struct {
    uint8_t blocks; /* of 256 columns */
    uint8_t rest;
} plan;
static float dot(const tokitai_call c, const uint16_t *g, const uint16_t *y, plan p) {
    double total = 0;
    for (int b = 0; b < p.blocks; b++, g += 256, y += 256) {
        double part = 0;
        for (int j = 0; j < 256; j++) part += (double)tokitai_load(c, g, j) * tokitai_load(c, y, j);
        total += part;
    }
    for (int j = 0; j < p.rest; j++) total += (double)tokitai_load(c, g, j) * tokitai_load(c, y, j);
    return (float)total;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    const plan p = {(uint8_t)(cols >> 8), (uint8_t)cols};
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *v = (const uint16_t *)y + r * cols;
        const float s = dot(c, g, v, p);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, (uint16_t *)grad_input + r * cols, j,
                          tokitai_load(c, v, j) * (tokitai_load(c, g, j) - s));
    }
    return 0;
}
