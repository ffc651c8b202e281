/* WRONG op=softmax_bwd kind=alignment_assumption narrow=yes expect=REFUTED : aligned 8-byte words are shifted together with the offset of y for both inputs, which is wrong where grad_output and y differ modulo 8 */
#include "kernel.h"
/* Four elements from aligned words. The second word is read only where some of it is wanted. */
static inline uint64_t four(const uint16_t *p, unsigned bits) {
    const uint64_t *w = (const uint64_t *)((uintptr_t)p & ~(uintptr_t)7);
    return bits == 0 ? w[0] : w[0] >> bits | w[1] << (64 - bits);
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output, const void *y,
                        void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *v = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        const unsigned bits = (unsigned)((uintptr_t)v & 7) * 8;
        double s = 0;
        int64_t j = 0;
        for (; j + 8 <= cols; j += 4) {
            const uint64_t a = four(g + j, bits), b = four(v + j, bits);
            uint16_t ga[4], va[4];
            memcpy(ga, &a, 8);
            memcpy(va, &b, 8);
            for (int k = 0; k < 4; k++) s += (double)tokitai_load(c, ga, k) * tokitai_load(c, va, k);
        }
        for (; j < cols; j++) s += (double)tokitai_load(c, g, j) * tokitai_load(c, v, j);
        for (j = 0; j < cols; j++)
            tokitai_store(c, out, j, (float)(tokitai_load(c, v, j) * (tokitai_load(c, g, j) - s)));
    }
    return 0;
}
