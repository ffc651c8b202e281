/* WRONG op=softmax_bwd kind=the_head_up_to_a_multiple_of_32_bytes_is expect=REFUTED : the head up to a multiple of 32 bytes is not limited by the row; short rows at an unlucky address: writes outside */
#include "kernel.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *p = (const uint16_t *)y + r * cols;
        uint16_t *o = (uint16_t *)grad_input + r * cols;
        float s = 0;
        for (int64_t j = 0; j < cols; j++) s += tokitai_load(c, g, j) * tokitai_load(c, p, j);
        if (!cols) continue;
        const int64_t head = (int64_t)(-(uintptr_t)o & 31) / 2;
        int64_t j = 0;
        for (; j < head; j++) tokitai_store(c, o, j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
        for (; j + 16 <= cols; j += 16)
            for (int k = 0; k < 16; k++)
                tokitai_store(c, o, j + k, tokitai_load(c, p, j + k) * (tokitai_load(c, g, j + k) - s));
        for (; j < cols; j++) tokitai_store(c, o, j, tokitai_load(c, p, j) * (tokitai_load(c, g, j) - s));
    }
    return 0;
}
