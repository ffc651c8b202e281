/* WRONG op=softmax_bwd kind=takes_g_relative_to_g_0 expect=REFUTED : takes g relative to g_0, as if y summed to one exactly; y as 16-bit numbers do not */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        const float g0 = cols ? tokitai_load(c, g, 0) : 0; /* differences are small: a better conditioned sum */
        float s = 0;
        for (int64_t j = 0; j < cols; j++) s += tokitai_load(c, p, j) * (tokitai_load(c, g, j) - g0);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, grad_input, r * cols + j, tokitai_load(c, p, j) * ((tokitai_load(c, g, j) - g0) - s));
    }
    return 0;
}
