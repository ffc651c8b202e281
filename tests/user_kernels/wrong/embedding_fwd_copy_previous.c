/* WRONG op=embedding_fwd kind=race_on_neighbour narrow=yes expect=REFUTED timing=yes : a repeated index copies the output row before it; at the beginning of a thread's slice that row belongs to another thread and is not written yet */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    tokitai_call call;
    int64_t begin, end, dim;
    const void *index;
    const uint16_t *weight;
    uint16_t *out;
} slice;
static void *work(void *arg) {
    const slice *s = arg;
    const size_t bytes = (size_t)s->dim * 2;
    for (int64_t i = s->begin; i < s->end; i++) {
        const int64_t v = tokitai_load_index(s->call, s->index, i);
        const uint16_t *src = s->weight + v * s->dim;
        if (i > 0 && tokitai_load_index(s->call, s->index, i - 1) == v)
            src = s->out + (i - 1) * s->dim; /* still in the cache */
        memcpy(s->out + i * s->dim, src, bytes);
    }
    return 0;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    slice s[16];
    pthread_t id[16];
    int64_t parts = call->threads < 16 ? call->threads : 16;
    (void)vocab;
    if (dim == 0) return 0;
    if (queries * dim < 4096 || queries < parts) parts = 1;
    for (int64_t t = 0; t < parts; t++)
        s[t] = (slice){*call, queries * t / parts, queries * (t + 1) / parts, dim, index, weight, out};
    for (int64_t t = 1; t < parts; t++)
        if (pthread_create(&id[t], 0, work, &s[t]) != 0) return 1;
    work(&s[0]);
    for (int64_t t = 1; t < parts; t++) pthread_join(id[t], 0);
    return 0;
}
