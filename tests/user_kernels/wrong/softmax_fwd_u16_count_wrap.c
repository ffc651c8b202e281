/* WRONG op=softmax_fwd kind=u16_count_wrap narrow=yes expect=REFUTED : rows of up to 65536 columns are described by a 16-bit count of columns, which is 0 for exactly 65536: nothing of the row is written */
#include "elements.h"
typedef struct {
    const uint16_t *src;
    uint16_t *dst;
    uint16_t count;
    uint16_t flags;
} item_t;
static void do_row(const uint16_t *x, uint16_t *y, int64_t n, int bf) {
    float m = -INFINITY, part[4] = {0};
    int64_t j;
    for (j = 0; j < n; j++) {
        float v = ld1(x[j], bf);
        if (v > m || v != v) m = v;
        if (m != m) break;
    }
    for (j = 0; j + 4 <= n; j += 4)
        for (int k = 0; k < 4; k++) part[k] += expf(ld1(x[j + k], bf) - m);
    for (; j < n; j++) part[0] += expf(ld1(x[j], bf) - m);
    const float inv = 1.0f / ((part[0] + part[1]) + (part[2] + part[3]));
    for (j = 0; j < n; j++) y[j] = st1(expf(ld1(x[j], bf) - m) * inv, bf);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    enum { BATCH = 256 };
    const uint16_t *src = x;
    uint16_t *dst = y;
    const int bf = call->dtype == TOKITAI_BF16;
    if (cols > 65536) { /* does not fit the queue */
        for (int64_t r = 0; r < rows; r++) do_row(src + r * cols, dst + r * cols, cols, bf);
        return 0;
    }
    item_t queue[BATCH];
    int filled = 0;
    for (int64_t r = 0; r < rows; r++) {
        queue[filled++] = (item_t){src + r * cols, dst + r * cols, (uint16_t)cols, (uint16_t)bf};
        if (filled == BATCH || r == rows - 1) {
            for (int k = 0; k < filled; k++) do_row(queue[k].src, queue[k].dst, queue[k].count, queue[k].flags);
            filled = 0;
        }
    }
    return 0;
}
