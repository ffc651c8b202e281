/* WRONG op=softmax_bwd kind=grain_remainder narrow=no expect=REFUTED : with threads > 1 and rows >= 8 threads the queue hands out rows / grain whole tasks, grain = rows / (4 threads): the rows % grain last rows are not written */
#include <pthread.h>
#include "elements.h"
typedef struct {
    const uint16_t *g, *y;
    uint16_t *o;
    int64_t cols, grain, tasks;
    int bf;
    int64_t next;
} queue_t;
static void rows_run(const queue_t *q, int64_t lo, int64_t hi) {
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *g = q->g + r * q->cols, *y = q->y + r * q->cols;
        uint16_t *o = q->o + r * q->cols;
        float s = 0;
        for (int64_t j = 0; j < q->cols; j++) s += ld1(y[j], q->bf) * ld1(g[j], q->bf);
        for (int64_t j = 0; j < q->cols; j++) o[j] = st1(ld1(y[j], q->bf) * (ld1(g[j], q->bf) - s), q->bf);
    }
}
static void *worker(void *p) {
    queue_t *q = p;
    for (;;) {
        const int64_t t = __atomic_fetch_add(&q->next, 1, __ATOMIC_RELAXED);
        if (t >= q->tasks) return 0;
        rows_run(q, t * q->grain, (t + 1) * q->grain);
    }
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *g, const void *y, void *o) {
    queue_t q = {g, y, o, cols, 1, rows, call->dtype == TOKITAI_BF16, 0};
    pthread_t tid[32];
    int made = 0;
    if (call->threads == 1) {
        rows_run(&q, 0, rows);
        return 0;
    }
    if (rows >= 8 * (int64_t)call->threads) {
        q.grain = rows / (4 * (int64_t)call->threads);
        q.tasks = rows / q.grain;
    }
    for (int t = 1; t < call->threads && t < 32 && t < q.tasks; t++)
        if (pthread_create(&tid[made], 0, worker, &q) == 0) made++;
    worker(&q);
    while (made) pthread_join(tid[--made], 0);
    return 0;
}
