/* WRONG op=embedding_fwd kind=row_partition narrow=yes expect=REFUTED : at most 8 threads are started, but the share of each is computed from call->threads, so that with threads > 8 the last queries are lost */
#include <pthread.h>
#include "kernel.h"
enum { POOL = 8 };
typedef struct share {
    const tokitai_call *call;
    int64_t first, last, dim;
    const void *index;
    const uint16_t *weight;
    uint16_t *out;
} share;
static void *gather(void *arg) {
    const share *s = arg;
    for (int64_t i = s->first; i < s->last; i++)
        memcpy(s->out + i * s->dim, s->weight + tokitai_load_index(*s->call, s->index, i) * s->dim,
               (size_t)s->dim * sizeof(uint16_t));
    return NULL;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    if (queries == 0 || dim == 0) return 0;
    const int64_t per = (queries + call->threads - 1) / call->threads;
    const int n = call->threads < POOL ? call->threads : POOL;
    pthread_t id[POOL];
    share s[POOL];
    int started[POOL];
    for (int k = 0; k < n; k++) {
        const int64_t first = k * per < queries ? k * per : queries,
                      last = first + per < queries ? first + per : queries;
        s[k] = (share){call, first, last, dim, index, weight, out};
        started[k] = k > 0 && pthread_create(&id[k], NULL, gather, &s[k]) == 0;
        if (!started[k]) gather(&s[k]);
    }
    for (int k = 0; k < n; k++)
        if (started[k]) pthread_join(id[k], NULL);
    return 0;
}
