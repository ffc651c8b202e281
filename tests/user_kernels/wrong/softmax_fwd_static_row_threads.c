/* WRONG op=softmax_fwd kind=race expect=REFUTED timing=yes : race, the threads share a static row buffer; several threads, rows long enough to overlap in time (wrong values) */
#include "threads.h"
static float e[65536];
typedef struct {
    tokitai_call c;
    int64_t cols;
    const void *x;
    void *y;
} args;
static void work(void *p, int64_t b, int64_t end) {
    const args *a = p;
    const int64_t n = a->cols;
    for (int64_t r = b; r < end; r++) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < n; j++) m = fmaxf(m, tokitai_load(a->c, a->x, r * n + j));
        if (n <= 65536) {
            for (int64_t j = 0; j < n; j++) s += e[j] = expf(tokitai_load(a->c, a->x, r * n + j) - m);
            for (int64_t j = 0; j < n; j++) tokitai_store(a->c, a->y, r * n + j, e[j] / s);
        } else {
            for (int64_t j = 0; j < n; j++) s += expf(tokitai_load(a->c, a->x, r * n + j) - m);
            for (int64_t j = 0; j < n; j++)
                tokitai_store(a->c, a->y, r * n + j, expf(tokitai_load(a->c, a->x, r * n + j) - m) / s);
        }
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    args a = {*call, cols, x, y};
    parallel_for(call->threads, rows, work, &a);
    return 0;
}
