/* WRONG op=gelu_fwd kind=race narrow=yes expect=REFUTED timing=yes : threads fill a table on first use, and mark it as ready before it is */
#include "kernel.h"
#include <pthread.h>
static double gelu_d(long double v) {
    return (double)(v / (1 + expl(-1.5957691216057308L * (v + 0.044715L * v * v * v))));
}
static uint16_t table[2][65536];
static volatile int ready[2];
static void fill(const tokitai_call *call) {
    const int which = call->dtype == TOKITAI_BF16;
    if (ready[which]) return;
    ready[which] = 1;
    for (int p = 0; p < 65536; p++) {
        const uint16_t bits = (uint16_t)p;
        tokitai_store(*call, table[which], p, (float)gelu_d((double)tokitai_load(*call, &bits, 0)));
    }
}
typedef struct job {
    const tokitai_call *call;
    const void *x;
    void *y;
    int64_t begin, end;
} job;
static void *work(void *data) {
    const job *j = data;
    if (j->call->dtype == TOKITAI_F32) {
        for (int64_t i = j->begin; i < j->end; i++)
            ((float *)j->y)[i] = (float)gelu_d((double)((const float *)j->x)[i]);
        return NULL;
    }
    fill(j->call);
    for (int64_t i = j->begin; i < j->end; i++)
        ((uint16_t *)j->y)[i] = table[j->call->dtype == TOKITAI_BF16][((const uint16_t *)j->x)[i]];
    return NULL;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    pthread_t threads[16];
    job jobs[16];
    const int count = n < 4096 ? 1 : call->threads > 16 ? 16 : call->threads;
    for (int t = 0; t < count; t++) {
        jobs[t] = (job){call, x, y, n * t / count, n * (t + 1) / count};
        if (t && pthread_create(&threads[t], NULL, work, &jobs[t])) return 1;
    }
    work(&jobs[0]);
    for (int t = 1; t < count; t++) pthread_join(threads[t], NULL);
    return 0;
}
