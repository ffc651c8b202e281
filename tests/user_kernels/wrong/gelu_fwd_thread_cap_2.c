/* WRONG op=gelu_fwd kind=thread_cap narrow=yes expect=REFUTED : the share of a thread is computed from call->threads but at most 8 threads are started: with more than 8 (and n >= 4096) the shares of the others are never written */
#include <pthread.h>
#include "gelu.h"
#define MAX_WORKERS 8
typedef struct {
    const tokitai_call *call;
    const void *x;
    void *y;
    int64_t begin, end;
} job;
static void *work(void *p) {
    job *j = p;
    for (int64_t i = j->begin; i < j->end; i++)
        tokitai_store(*j->call, j->y, i, gelu1(tokitai_load(*j->call, j->x, i)));
    return NULL;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    job jobs[MAX_WORKERS];
    pthread_t ids[MAX_WORKERS];
    const int threads = n < 4096 ? 1 : call->threads;
    const int64_t share = ((n + threads - 1) / threads + 15) & ~(int64_t)15;
    const int started = threads < MAX_WORKERS ? threads : MAX_WORKERS;
    for (int t = 0; t < started; t++) {
        const int64_t b = t * share < n ? t * share : n, e = (t + 1) * share < n ? (t + 1) * share : n;
        jobs[t] = (job){call, x, y, b, e};
        if (t) pthread_create(&ids[t], NULL, work, &jobs[t]);
    }
    work(&jobs[0]);
    for (int t = 1; t < started; t++) pthread_join(ids[t], NULL);
    return 0;
}
