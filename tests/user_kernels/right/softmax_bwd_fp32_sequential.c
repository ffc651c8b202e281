/* RIGHT op=softmax_bwd kind=fp32_sequential expect=HELD : one fp32 accumulator from left to right, which is just what the bound allows */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        float s = 0;
        for (int64_t j = 0; j < cols; j++) s += tokitai_load(c, g, j) * tokitai_load(c, p, j);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, out, j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
    }
    return 0;
}
