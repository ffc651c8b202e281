/* WRONG op=softmax_fwd kind=lse_absolute narrow=yes expect=REFUTED : y = exp(x - (max + ln sum)) with the log-sum-exp rounded to fp32 as one number: off by an ulp of max, which shows where |max| is in the thousands and more and sum > 1 */
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
        float m = -INFINITY;
        double s = 0;
        for (int64_t j = 0; j < a->cols; j++) m = fmaxf(m, ld1(x[j], a->bf));
        for (int64_t j = 0; j < a->cols; j++) s += expf(ld1(x[j], a->bf) - m);
        const float lse = m + (float)log(s);
        for (int64_t j = 0; j < a->cols; j++) y[j] = st1(expf(ld1(x[j], a->bf) - lse), a->bf);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    struct args a = {x, y, cols, call->dtype == TOKITAI_BF16};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
