/* WRONG op=softmax_fwd kind=index_overflow narrow=yes expect=REFUTED : the queue of row ranges holds 16-bit row numbers, so that rows stay unwritten from 65536 rows on with one thread, from 131072 on with two */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    uint16_t first, count;
} range;
typedef struct {
    const tokitai_call *call;
    int64_t cols;
    const uint16_t *x;
    uint16_t *y;
    range rows;
} task;
static void *run(void *p) {
    const task *t = p;
    const tokitai_call c = *t->call;
    for (int64_t k = 0; k < t->rows.count; k++) {
        const uint16_t *in = t->x + (t->rows.first + k) * t->cols;
        uint16_t *out = t->y + (t->rows.first + k) * t->cols;
        float m = -INFINITY;
        double sum = 0;
        for (int64_t j = 0; j < t->cols; j++) m = fmaxf(m, tokitai_load(c, in, j));
        for (int64_t j = 0; j < t->cols; j++) sum += expf(tokitai_load(c, in, j) - m);
        for (int64_t j = 0; j < t->cols; j++)
            tokitai_store(c, out, j, (float)(expf(tokitai_load(c, in, j) - m) / sum));
    }
    return NULL;
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    pthread_t id[8];
    task tasks[8];
    const int threads = call->threads < 8 ? call->threads : 8;
    for (int t = 0; t < threads; t++) {
        const int64_t first = rows * t / threads, last = rows * (t + 1) / threads;
        tasks[t] = (task){call, cols, x, y, {(uint16_t)first, (uint16_t)(last - first)}};
    }
    for (int t = 1; t < threads; t++)
        if (pthread_create(&id[t], NULL, run, &tasks[t])) return 1;
    run(&tasks[0]);
    for (int t = 1; t < threads; t++) pthread_join(id[t], NULL);
    return 0;
}
