/* WRONG op=embedding_bwd kind=order_by_threads narrow=no expect=REFUTED : each thread sums its share of the queries into its own float table and the tables are added at the end, so that the order of additions, and with it the bits, depends on the number of threads */
#include <pthread.h>
#include "kernel.h"
typedef struct job {
    const tokitai_call *call;
    int64_t first, last, dim;
    const uint16_t *grad;
    const void *index;
    float *acc;
} job;
static void *scatter(void *arg) {
    const job *w = arg;
    for (int64_t i = w->first; i < w->last; i++) {
        float *to = w->acc + tokitai_load_index(*w->call, w->index, i) * w->dim;
        for (int64_t j = 0; j < w->dim; j++) to[j] += tokitai_load(*w->call, w->grad, i * w->dim + j);
    }
    return NULL;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { MOST = 8 };
    const int64_t n = vocab * dim, t = call->threads < MOST ? call->threads : MOST;
    float *acc = calloc((size_t)(n * t) + 1, sizeof *acc);
    if (acc == NULL) return 1;
    pthread_t id[MOST];
    job w[MOST];
    int started[MOST];
    for (int64_t k = 0; k < t; k++) {
        w[k] = (job){call, queries * k / t, queries * (k + 1) / t, dim, grad_output, index, acc + k * n};
        started[k] = k + 1 < t && pthread_create(&id[k], NULL, scatter, &w[k]) == 0;
        if (!started[k]) scatter(&w[k]);
    }
    for (int64_t k = 0; k < t; k++)
        if (started[k]) pthread_join(id[k], NULL);
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (int64_t k = 0; k < t; k++) sum += acc[k * n + i];
        tokitai_store(*call, grad_weight, i, sum);
    }
    free(acc);
    return 0;
}
