/* WRONG op=softmax_bwd kind=onehot_shortcut narrow=yes expect=REFUTED : a y of exactly 1 is taken for a one-hot row, whose gradient is zero; in 16 bits 1 is also what 0.9999 rounds to, beside others that are not 0 */
#include "elements.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    const uint16_t one = bf ? 0x3f80 : 0x3c00;
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        float s0 = 0, s1 = 0;
        int hot = 0;
        int64_t j = 0;
        for (; j + 2 <= cols; j += 2) {
            s0 = fmaf(ld1(y[j], bf), ld1(g[j], bf), s0);
            s1 = fmaf(ld1(y[j + 1], bf), ld1(g[j + 1], bf), s1);
            hot |= y[j] == one || y[j + 1] == one;
        }
        if (j < cols) {
            s0 = fmaf(ld1(y[j], bf), ld1(g[j], bf), s0);
            hot |= y[j] == one;
        }
        const float s = s0 + s1;
        if (hot && isfinite(s)) {
            memset(o, 0, (size_t)cols * 2);
            continue;
        }
        for (j = 0; j < cols; j++) o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
    return 0;
}
