/* WRONG op=embedding_fwd kind=at_most_8_workers expect=REFUTED : at most 8 workers, the shares are those of call->threads; 16 threads: the second half is never written */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    tokitai_call c;
    int64_t dim, b, e;
    const void *ix, *w;
    void *o;
} job;
static void *work(void *p) {
    job *j = p;
    for (int64_t q = j->b; q < j->e; q++)
        memcpy((uint16_t *)j->o + q * j->dim, (const uint16_t *)j->w + tokitai_load_index(j->c, j->ix, q) * j->dim,
               (size_t)j->dim * 2);
    return 0;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    enum { WORKERS = 8 };
    const int up = call->threads < WORKERS ? call->threads : WORKERS;
    const int64_t share = (queries + call->threads - 1) / call->threads;
    pthread_t id[WORKERS];
    job j[WORKERS];
    for (int i = 0; i < up; i++) {
        const int64_t b = i * share < queries ? i * share : queries, e = b + share < queries ? b + share : queries;
        j[i] = (job){*call, dim, b, e, index, weight, out};
        if (i) pthread_create(&id[i], 0, work, &j[i]);
    }
    work(&j[0]);
    for (int i = 1; i < up; i++) pthread_join(id[i], 0);
    return 0;
}
