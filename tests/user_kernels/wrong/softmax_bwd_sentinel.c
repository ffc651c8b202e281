/* WRONG op=softmax_bwd kind=writes_input narrow=yes expect=REFUTED : for odd cols the element after a row is set to zero and put back later, so that pairs need no tail; that writes to the inputs where there is a next row */
#include "kernel.h"
static float dot_pairs(const tokitai_call c, const uint16_t *g, const uint16_t *y, int64_t pairs) {
    float even = 0, odd = 0;
    for (int64_t k = 0; k < pairs; k++) {
        even += tokitai_load(c, g, 2 * k) * tokitai_load(c, y, 2 * k);
        odd += tokitai_load(c, g, 2 * k + 1) * tokitai_load(c, y, 2 * k + 1);
    }
    return even + odd;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows && cols > 0; r++) {
        uint16_t *g = (uint16_t *)grad_output + r * cols, *p = (uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        float s;
        if (cols % 2 == 0) {
            s = dot_pairs(c, g, p, cols / 2);
        } else if (r + 1 < rows) {
            const uint16_t next_g = g[cols], next_p = p[cols];
            g[cols] = p[cols] = 0;
            s = dot_pairs(c, g, p, cols / 2 + 1);
            g[cols] = next_g;
            p[cols] = next_p;
        } else {
            s = dot_pairs(c, g, p, cols / 2) + tokitai_load(c, g, cols - 1) * tokitai_load(c, p, cols - 1);
        }
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, out, j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
    }
    return 0;
}
