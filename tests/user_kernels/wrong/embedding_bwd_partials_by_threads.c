/* WRONG op=embedding_bwd kind=partials_by_threads narrow=yes expect=REFUTED : each thread sums its share of the queries into a table of its own and these are added: the order of the sums, and some bits, depend on the number of threads (queries >= 128) */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    int64_t q0, q1, dim;
    const void *g, *index;
    float *sum;
} part;
static void *scatter(void *a) {
    const part *p = a;
    for (int64_t i = p->q0; i < p->q1; i++) {
        float *s = p->sum + tokitai_load_index(*p->call, p->index, i) * p->dim;
        for (int64_t c = 0; c < p->dim; c++) s[c] += tokitai_load(*p->call, p->g, i * p->dim + c);
    }
    return NULL;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { MOST = 16 };
    int nt = queries < 128 ? 1 : call->threads > MOST ? MOST : call->threads;
    const size_t cells = (size_t)(vocab * dim);
    part p[MOST];
    pthread_t id[MOST];
    float *sums = calloc(cells * (size_t)nt + 1, sizeof(float));
    if (!sums) return 1;
    for (int t = 0; t < nt; t++) {
        p[t] = (part){call,  queries * t / nt,        queries * (t + 1) / nt, dim, grad_output,
                      index, sums + cells * (size_t)t};
        if (t) pthread_create(&id[t], NULL, scatter, &p[t]);
    }
    scatter(&p[0]);
    for (int t = 1; t < nt; t++) {
        pthread_join(id[t], NULL);
        for (size_t k = 0; k < cells; k++) sums[k] += p[t].sum[k];
    }
    for (size_t k = 0; k < cells; k++) tokitai_store(*call, grad_weight, (int64_t)k, sums[k]);
    free(sums);
    return 0;
}
