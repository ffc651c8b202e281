/* WRONG op=softmax_fwd kind=chunk_remainder_lost narrow=yes expect=REFUTED : rows of 32768 and more are summed in 48 equal chunks of cols / 48 and the cols % 48 last columns are not added; visible if one of these is large */
#include "elements.h"
enum { CHUNKS = 48, LONG = 32768 };
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *xv, void *yv) {
    const uint16_t *x = xv;
    uint16_t *y = yv;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float m = -INFINITY, s = 0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            float v = ld1(x[j], bf);
            bad |= v != v || v == INFINITY;
            m = v > m ? v : m;
        }
        if (bad || m == -INFINITY) {
            for (int64_t j = 0; j < cols; j++) y[j] = 0x7fff;
            continue;
        }
        if (cols < LONG) {
            for (int64_t j = 0; j < cols; j++) s += expf(ld1(x[j], bf) - m);
        } else { /* shorter chains of additions */
            float part[CHUNKS];
            const int64_t len = cols / CHUNKS;
            for (int c = 0; c < CHUNKS; c++) {
                const uint16_t *q = x + c * len;
                part[c] = 0;
                for (int64_t j = 0; j < len; j++) part[c] += expf(ld1(q[j], bf) - m);
            }
            for (int w = CHUNKS; w > 3; w /= 2)
                for (int c = 0; c < w / 2; c++) part[c] += part[c + w / 2];
            s = part[0] + part[1] + part[2];
        }
        for (int64_t j = 0; j < cols; j++) y[j] = st1(expf(ld1(x[j], bf) - m) / s, bf);
    }
    return 0;
}
