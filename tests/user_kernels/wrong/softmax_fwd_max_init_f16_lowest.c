/* WRONG op=softmax_fwd kind=max_init_f16_lowest narrow=yes expect=REFUTED : the running maximum starts at -65504, the lowest fp16; a bf16 row whose elements all lie more than 104 below that gets 0/0 = NaN */
#include "elements.h"
#include "threads.h"
struct args {
    const uint16_t *x;
    uint16_t *y;
    int64_t cols;
    int bf;
};
static void rows_fn(void *p, int64_t lo, int64_t hi) {
    const struct args *a = p;
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *x = a->x + r * a->cols;
        uint16_t *y = a->y + r * a->cols;
        float m0 = -65504.0f, m1 = -65504.0f, s0 = 0, s1 = 0;
        int seen = 0, bad = 0;
        int64_t j = 0;
        for (; j + 2 <= a->cols; j += 2) {
            float u = ld1(x[j], a->bf), v = ld1(x[j + 1], a->bf);
            m0 = u > m0 ? u : m0;
            m1 = v > m1 ? v : m1;
            bad |= u != u || v != v || u == INFINITY || v == INFINITY;
            seen |= u != -INFINITY || v != -INFINITY;
        }
        if (j < a->cols) {
            float u = ld1(x[j], a->bf);
            m0 = u > m0 ? u : m0;
            bad |= u != u || u == INFINITY;
            seen |= u != -INFINITY;
        }
        float m = m0 > m1 ? m0 : m1;
        if (bad || !seen) {
            for (j = 0; j < a->cols; j++) y[j] = a->bf ? 0x7fc0 : 0x7e00;
            continue;
        }
        for (j = 0; j + 2 <= a->cols; j += 2) {
            s0 += expf(ld1(x[j], a->bf) - m);
            s1 += expf(ld1(x[j + 1], a->bf) - m);
        }
        if (j < a->cols) s0 += expf(ld1(x[j], a->bf) - m);
        const float z = s0 + s1;
        for (j = 0; j < a->cols; j++) y[j] = st1(expf(ld1(x[j], a->bf) - m) / z, a->bf);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    struct args a = {x, y, cols, call->dtype == TOKITAI_BF16};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
