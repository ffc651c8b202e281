/* WRONG op=softmax_bwd kind=unit_sum_assumption narrow=no expect=REFUTED : the dot product is taken of g - g_0 and g_0 is added back, which holds only if y adds up to exactly 1 */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows && cols > 0; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        const double base = tokitai_load(c, g, 0); /* small differences add up with less error */
        double s = 0;
        for (int64_t j = 0; j < cols; j++) s += tokitai_load(c, p, j) * (tokitai_load(c, g, j) - base);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, out, j, (float)(tokitai_load(c, p, j) * ((tokitai_load(c, g, j) - base) - s)));
    }
    return 0;
}
