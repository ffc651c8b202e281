/* WRONG op=softmax_bwd kind=fixed_point_sum narrow=yes expect=REFUTED : sums in 64-bit fixed point with 40 fractional bits, to be the same in any order: gradients below about 2^-20 with small y lose their digits (|y g| of 2^-33 and less, bf16), and |s| from 2^23 on saturates */
#include "elements.h"
#include "threads.h"
struct args {
    const uint16_t *g, *y;
    uint16_t *o;
    int64_t cols;
    int bf;
};
static void rows_fn(void *p, int64_t lo, int64_t hi) {
    const struct args *a = p;
    const int bf = a->bf;
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *g = a->g + r * a->cols, *y = a->y + r * a->cols;
        uint16_t *o = a->o + r * a->cols;
        int64_t fix = 0;
        float special = 0;
        for (int64_t j = 0; j < a->cols; j++) {
            const float t = ld1(y[j], bf) * ld1(g[j], bf);
            if (t - t != 0) special += t;
            else if (t >= 8388607.0f || t <= -8388607.0f) fix += t > 0 ? INT64_MAX / 2 : INT64_MIN / 2;
            else fix += llrintf(t * 0x1p40f);
        }
        const float s = special != 0 ? special : (float)fix * 0x1p-40f;
        for (int64_t j = 0; j < a->cols; j++) o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *g, const void *y, void *o) {
    struct args a = {g, y, o, cols, call->dtype == TOKITAI_BF16};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
