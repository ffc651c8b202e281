/* WRONG op=softmax_bwd kind=zero_skip_loses_nan narrow=yes expect=REFUTED : masked positions (y = 0) are answered by 0 even where the row's sum is NaN or infinite */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols;
        const uint16_t *p = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        float s = 0.0f;
        for (int64_t j = 0; j < cols; j++) s += tokitai_load(c, p, j) * tokitai_load(c, g, j);
        for (int64_t j = 0; j < cols; j++) {
            if ((p[j] & 0x7fff) == 0) out[j] = 0;
            else tokitai_store(c, out, j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
        }
    }
    return 0;
}
