/* WRONG op=gelu_bwd kind=thread_cap narrow=yes expect=REFUTED : at most four workers run but the range is cut into call->threads pieces, so that pieces are left out with 5 threads and more */
#include <pthread.h>
#include "gelu.h"
#define WORKERS 4
typedef struct {
    const tokitai_call *call;
    const void *g, *x;
    void *out;
    int64_t begin, end;
} job;
static void *run(void *p) {
    const job *j = p;
    for (int64_t i = j->begin; i < j->end; i++)
        tokitai_store(*j->call, j->out, i, tokitai_load(*j->call, j->g, i) * dgelu(tokitai_load(*j->call, j->x, i)));
    return NULL;
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    pthread_t id[WORKERS];
    job jobs[WORKERS];
    const int64_t pieces = n < 1024 ? 1 : call->threads;
    const int64_t each = (n + pieces - 1) / pieces;
    const int workers = pieces < WORKERS ? (int)pieces : WORKERS;
    for (int t = 0; t < workers; t++) {
        const int64_t begin = t * each < n ? t * each : n;
        jobs[t] = (job){call, grad_output, x, grad_input, begin, begin + each < n ? begin + each : n};
    }
    for (int t = 1; t < workers; t++)
        if (pthread_create(&id[t], NULL, run, &jobs[t])) return 1;
    run(&jobs[0]);
    for (int t = 1; t < workers; t++) pthread_join(id[t], NULL);
    return 0;
}
