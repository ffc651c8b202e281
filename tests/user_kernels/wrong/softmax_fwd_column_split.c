/* WRONG op=softmax_fwd kind=thread_dependent_bits narrow=yes expect=REFUTED : with more threads than rows the columns are split and the fp32 partial sums depend on the number of threads, which shows in some bits of long rows */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    const uint16_t *x;
    int64_t n;
    float max, sum;
} part;
static void *reduce(void *p) {
    part *w = p;
    w->sum = 0;
    for (int64_t j = 0; j < w->n; j++) w->sum += expf(tokitai_load(*w->call, w->x, j) - w->max);
    return NULL;
}
static float row_sum(const tokitai_call *call, const uint16_t *x, int64_t n, float m, int64_t pieces) {
    part parts[16];
    pthread_t id[16];
    float sum = 0;
    for (int64_t t = 0; t < pieces; t++) {
        const int64_t begin = n * t / pieces, end = n * (t + 1) / pieces;
        parts[t] = (part){call, x + begin, end - begin, m, 0};
        if (t == 0 || pthread_create(&id[t], NULL, reduce, &parts[t])) reduce(&parts[t]), id[t] = pthread_self();
    }
    for (int64_t t = 0; t < pieces; t++) {
        if (!pthread_equal(id[t], pthread_self())) pthread_join(id[t], NULL);
        sum += parts[t].sum;
    }
    return sum;
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const tokitai_call c = *call;
    const int64_t threads = c.threads < 16 ? c.threads : 16;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *in = (const uint16_t *)x + r * cols;
        uint16_t *out = (uint16_t *)y + r * cols;
        float m = -INFINITY;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, in, j));
        const float scale = 1.0f / row_sum(&c, in, cols, m, threads > rows && cols >= 256 ? threads : 1);
        for (int64_t j = 0; j < cols; j++) tokitai_store(c, out, j, expf(tokitai_load(c, in, j) - m) * scale);
    }
    return 0;
}
