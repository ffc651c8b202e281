/* RIGHT op=softmax_fwd kind=rows_over_threads expect=HELD : rows over threads, eight partial sums */
#include "threads.h"
typedef struct {
    tokitai_call c;
    int64_t cols;
    const void *x;
    void *y;
} args;
static void work(void *p, int64_t b, int64_t e) {
    const args *a = p;
    for (int64_t r = b; r < e; r++) {
        float m = -INFINITY, s[8] = {0};
        for (int64_t j = 0; j < a->cols; j++) m = fmaxf(m, tokitai_load(a->c, a->x, r * a->cols + j));
        for (int64_t j = 0; j < a->cols; j++) s[j & 7] += expf(tokitai_load(a->c, a->x, r * a->cols + j) - m);
        const float inv = 1 / (((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
        for (int64_t j = 0; j < a->cols; j++)
            tokitai_store(a->c, a->y, r * a->cols + j, expf(tokitai_load(a->c, a->x, r * a->cols + j) - m) * inv);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    args a = {*call, cols, x, y};
    parallel_for(call->threads, rows, work, &a);
    return 0;
}
