/* RIGHT op=softmax_bwd kind=sixteen_lanes_summed_apart expect=HELD : sixteen lanes summed apart, joined by a tree */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        float lane[16] = {0};
        int64_t j = 0;
        for (; j + 16 <= cols; j += 16)
            for (int k = 0; k < 16; k++) lane[k] += tokitai_load(c, g, j + k) * tokitai_load(c, p, j + k);
        for (int k = 0; j < cols; j++, k++) lane[k] += tokitai_load(c, g, j) * tokitai_load(c, p, j);
        for (int w = 8; w; w /= 2)
            for (int k = 0; k < w; k++) lane[k] += lane[k + w];
        for (j = 0; j < cols; j++)
            tokitai_store(c, grad_input, r * cols + j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - lane[0]));
    }
    return 0;
}
