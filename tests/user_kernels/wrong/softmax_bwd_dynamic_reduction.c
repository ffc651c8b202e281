/* WRONG op=softmax_bwd kind=dynamic_reduction narrow=yes expect=REFUTED : rows of 8192 and more with threads > 1: blocks are taken from a queue and summed by whoever took them, so the order of the sum, and some bits, change with the thread count and from run to run */
#include <pthread.h>
#include "elements.h"
enum { BLOCK = 1024, LONG = 8192 };
typedef struct {
    const uint16_t *g, *y;
    uint16_t *o;
    int64_t n;
    int bf;
    int64_t next;
    float s;
    pthread_mutex_t lock;
} job_t;
static void *sum_worker(void *p) {
    job_t *w = p;
    float mine = 0;
    for (;;) {
        const int64_t lo = __atomic_fetch_add(&w->next, BLOCK, __ATOMIC_RELAXED);
        if (lo >= w->n) break;
        const int64_t hi = lo + BLOCK < w->n ? lo + BLOCK : w->n;
        for (int64_t j = lo; j < hi; j++) mine += ld1(w->y[j], w->bf) * ld1(w->g[j], w->bf);
    }
    pthread_mutex_lock(&w->lock);
    w->s += mine;
    pthread_mutex_unlock(&w->lock);
    return 0;
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++) {
        job_t w = {.g = (const uint16_t *)gv + r * cols,
                   .y = (const uint16_t *)yv + r * cols,
                   .o = (uint16_t *)ov + r * cols,
                   .n = cols,
                   .bf = bf};
        pthread_mutex_init(&w.lock, 0);
        pthread_t tid[16];
        int made = 0;
        if (cols >= LONG)
            for (int t = 1; t < call->threads && t < 16; t++)
                if (pthread_create(&tid[made], 0, sum_worker, &w) == 0) made++;
        sum_worker(&w);
        while (made) pthread_join(tid[--made], 0);
        for (int64_t j = 0; j < cols; j++) w.o[j] = st1(ld1(w.y[j], bf) * (ld1(w.g[j], bf) - w.s), bf);
        pthread_mutex_destroy(&w.lock);
    }
    return 0;
}
