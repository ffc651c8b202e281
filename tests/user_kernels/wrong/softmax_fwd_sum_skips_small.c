/* WRONG op=softmax_fwd kind=sum_skips_small narrow=yes expect=REFUTED : terms more than 14 below the maximum (under 1e-6) are left out of the sum as too small to count; thousands of them under one peak do count */
#include "elements.h"
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *xv, void *yv) {
    const uint16_t *x = xv;
    uint16_t *y = yv;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float m = -INFINITY, s = 0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            float v = ld1(x[j], bf);
            bad |= v != v;
            m = v > m ? v : m;
        }
        if (bad || m == INFINITY || m == -INFINITY) {
            for (int64_t j = 0; j < cols; j++) y[j] = bf ? 0x7fc0 : 0x7e00;
            continue;
        }
        for (int64_t j = 0; j < cols; j++) {
            const float d = m - ld1(x[j], bf);
            if (d > 14.0f) continue; /* exp is the expensive part: skip what cannot change the sum */
            s += expf(-d);
        }
        const float inv = 1.0f / s;
        for (int64_t j = 0; j < cols; j++) y[j] = st1(expf(ld1(x[j], bf) - m) * inv, bf);
    }
    return 0;
}
