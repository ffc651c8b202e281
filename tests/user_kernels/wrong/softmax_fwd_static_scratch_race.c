/* WRONG op=softmax_fwd kind=static_scratch_race narrow=yes expect=REFUTED timing=yes : rows of more than 1024 columns keep their exp values in one static scratch that all threads share: two threads and two such rows spoil each other */
#include "elements.h"
#include "threads.h"
struct args {
    const uint16_t *x;
    uint16_t *y;
    int64_t cols;
    int bf;
};
static float *big;
static int64_t big_cap;
static int reserve(int64_t n) {
    if (n <= big_cap) return 0;
    free(big);
    big = malloc((size_t)n * sizeof *big);
    big_cap = big ? n : 0;
    return big == 0;
}
static void rows_fn(void *p, int64_t lo, int64_t hi) {
    const struct args *a = p;
    float small[1024], *e = a->cols <= 1024 ? small : big;
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *x = a->x + r * a->cols;
        uint16_t *y = a->y + r * a->cols;
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < a->cols; j++) m = fmaxf(m, e[j] = ld1(x[j], a->bf));
        for (int64_t j = 0; j < a->cols; j++) s += e[j] = expf(e[j] - m);
        for (int64_t j = 0; j < a->cols; j++) y[j] = st1(e[j] / s, a->bf);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    struct args a = {x, y, cols, call->dtype == TOKITAI_BF16};
    if (cols > 1024 && reserve(cols)) return 1;
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
