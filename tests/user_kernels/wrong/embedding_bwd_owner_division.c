/* WRONG op=embedding_bwd kind=owner_division narrow=yes expect=REFUTED : a row belongs to the thread v / (vocab / threads): fewer rows than threads divide by zero (queries >= 32) */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    int64_t queries, dim, vocab, per;
    int me, all;
    const void *g, *index;
    float *sum;
    void *out;
} owner;
static void *serve(void *a) {
    const owner *o = a;
    const int64_t r0 = o->per * o->me, r1 = o->me == o->all - 1 ? o->vocab : r0 + o->per;
    for (int64_t i = 0; i < o->queries; i++) {
        const int64_t v = tokitai_load_index(*o->call, o->index, i);
        int64_t whose = v / o->per;
        if (whose >= o->all) whose = o->all - 1;
        if (whose != o->me) continue;
        for (int64_t c = 0; c < o->dim; c++) o->sum[v * o->dim + c] += tokitai_load(*o->call, o->g, i * o->dim + c);
    }
    for (int64_t k = r0 * o->dim; k < r1 * o->dim; k++) tokitai_store(*o->call, o->out, k, o->sum[k]);
    return NULL;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { MOST = 16 };
    int nt = call->threads > MOST ? MOST : call->threads;
    if (queries < 32) nt = 1;
    float *sum = calloc((size_t)(vocab * dim) + 1, sizeof *sum);
    if (!sum) return 1;
    owner o[MOST];
    pthread_t id[MOST];
    for (int t = 0; t < nt; t++) {
        o[t] = (owner){call, queries, dim, vocab, vocab / nt, t, nt, grad_output, index, sum, grad_weight};
        if (t) pthread_create(&id[t], NULL, serve, &o[t]);
    }
    serve(&o[0]);
    for (int t = 1; t < nt; t++) pthread_join(id[t], NULL);
    free(sum);
    return 0;
}
