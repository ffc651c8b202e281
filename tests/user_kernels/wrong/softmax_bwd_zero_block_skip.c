/* WRONG op=softmax_bwd kind=zero_block_skip narrow=yes expect=REFUTED : blocks of 16 in which every y is 0 (masked attention) are skipped and get zeros: an infinite or NaN grad_output there must make the row NaN */
#include "elements.h"
static int all_zero16(const uint16_t *p) {
    uint64_t w[4];
    memcpy(w, p, 32);
    return ((w[0] | w[1] | w[2] | w[3]) & 0x7fff7fff7fff7fffull) == 0;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        float s = 0;
        int64_t j = 0;
        for (; j + 16 <= cols; j += 16) {
            if (all_zero16(y + j)) continue;
            float a = 0, b = 0;
            for (int k = 0; k < 8; k++) {
                a += ld1(y[j + k], bf) * ld1(g[j + k], bf);
                b += ld1(y[j + k + 8], bf) * ld1(g[j + k + 8], bf);
            }
            s += a + b;
        }
        for (; j < cols; j++) s += ld1(y[j], bf) * ld1(g[j], bf);
        for (j = 0; j + 16 <= cols; j += 16) {
            if (s - s == 0 && all_zero16(y + j)) { /* 0 (g - s) = 0 */
                memset(o + j, 0, 32);
                continue;
            }
            for (int k = 0; k < 16; k++) o[j + k] = st1(ld1(y[j + k], bf) * (ld1(g[j + k], bf) - s), bf);
        }
        for (; j < cols; j++) o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
    return 0;
}
