/* WRONG op=gelu_fwd kind=wrong_formula narrow=no expect=REFUTED : computes the exact GELU with erfc and not its tanh approximation */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    const void *x;
    void *y;
    int64_t begin, end;
} job;
static void *work(void *p) {
    const job *j = p;
    for (int64_t i = j->begin; i < j->end; i++) {
        const double v = tokitai_load(*j->call, j->x, i);
        tokitai_store(*j->call, j->y, i, (float)(0.5 * v * erfc(-0.70710678118654752 * v)));
    }
    return NULL;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    pthread_t id[8];
    job jobs[8];
    const int64_t threads = n < 8192 ? 1 : call->threads < 8 ? call->threads : 8;
    for (int64_t t = 0; t < threads; t++) jobs[t] = (job){call, x, y, n * t / threads, n * (t + 1) / threads};
    for (int64_t t = 1; t < threads; t++)
        if (pthread_create(&id[t], NULL, work, &jobs[t])) return 1;
    work(&jobs[0]);
    for (int64_t t = 1; t < threads; t++) pthread_join(id[t], NULL);
    return 0;
}
