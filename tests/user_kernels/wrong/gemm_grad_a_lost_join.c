/* WRONG op=gemm_grad_a kind=missing_join narrow=no expect=REFUTED : with two threads or more the last worker is never waited for, so that its rows may be unwritten at return */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    tokitai_call call;
    int64_t n, k, begin, end;
    const void *g, *b;
    void *out;
} job;
static void *work(void *arg) {
    const job *w = arg;
    for (int64_t i = w->begin; i < w->end; i++)
        for (int64_t t = 0; t < w->k; t++) {
            float s = 0.0f;
            for (int64_t j = 0; j < w->n; j++)
                s += tokitai_load(w->call, w->g, i * w->n + j) * tokitai_load(w->call, w->b, t * w->n + j);
            tokitai_store(w->call, w->out, i * w->k + t, s);
        }
    return 0;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    static job jobs[64];
    pthread_t id[64];
    int64_t parts = call->threads < 64 ? call->threads : 64;
    if (parts > m) parts = m;
    if (parts < 1) parts = 1;
    for (int64_t t = 0; t < parts; t++)
        jobs[t] = (job){*call, n, k, m / parts * t, t == parts - 1 ? m : m / parts * (t + 1), grad_c, b, grad_a};
    if (parts == 1) {
        work(&jobs[0]);
        return 0;
    }
    for (int64_t t = 0; t < parts; t++)
        if (pthread_create(&id[t], 0, work, &jobs[t]) != 0) return 1;
    for (int64_t t = 0; t < parts - 1; t++) pthread_join(id[t], 0);
    return 0;
}
