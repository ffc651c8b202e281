/* RIGHT op=embedding_fwd kind=coalesced_runs expect=HELD : runs of ascending neighbours are copied by one memcpy, queries split over threads */
#include <pthread.h>
#include "kernel.h"
typedef struct job {
    const tokitai_call *call;
    int64_t first, last, dim;
    const void *index;
    const uint16_t *weight;
    uint16_t *out;
} job;
static void *gather(void *arg) {
    const job *w = arg;
    for (int64_t i = w->first; i < w->last;) {
        const int64_t v = tokitai_load_index(*w->call, w->index, i);
        int64_t n = 1;
        while (i + n < w->last && tokitai_load_index(*w->call, w->index, i + n) == v + n) n++;
        memcpy(w->out + i * w->dim, w->weight + v * w->dim, (size_t)(n * w->dim) * sizeof(uint16_t));
        i += n;
    }
    return NULL;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    enum { MOST = 16 };
    (void)vocab;
    if (queries == 0 || dim == 0) return 0;
    int64_t n = call->threads < MOST ? call->threads : MOST;
    if (n > queries) n = queries;
    pthread_t id[MOST];
    job w[MOST];
    int started[MOST] = {0};
    for (int64_t k = 0; k < n; k++) {
        w[k] = (job){call, queries * k / n, queries * (k + 1) / n, dim, index, weight, out};
        started[k] = k + 1 < n && pthread_create(&id[k], NULL, gather, &w[k]) == 0;
        if (!started[k]) gather(&w[k]);
    }
    for (int64_t k = 0; k < n; k++)
        if (started[k]) pthread_join(id[k], NULL);
    return 0;
}
