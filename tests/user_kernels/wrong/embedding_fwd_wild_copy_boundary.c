/* WRONG op=embedding_fwd kind=wild_copy_boundary narrow=yes expect=REFUTED : rows are copied in 32-byte pieces that run into the next row, which is written after; with threads the next row of the last one is another thread's, which may be done already (queries >= 64, dim mod 16 != 0, 2 or more threads) */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    int64_t begin, end, queries, dim, vocab;
    const void *index;
    const uint16_t *weight;
    uint16_t *out;
} slice;
static void *gather(void *p) {
    const slice *s = p;
    const int64_t row = s->dim * 2;
    const char *stop = (const char *)(s->weight + s->vocab * s->dim),
               *end = (const char *)(s->out + s->queries * s->dim);
    for (int64_t i = s->begin; i < s->end; i++) {
        const char *from = (const char *)(s->weight + tokitai_load_index(*s->call, s->index, i) * s->dim);
        char *to = (char *)(s->out + i * s->dim);
        if (from + ((row + 31) & ~31) > stop || to + ((row + 31) & ~31) > end) { /* near the ends: exactly */
            memcpy(to, from, (size_t)row);
            continue;
        }
        for (int64_t k = 0; k < row; k += 32) memcpy(to + k, from + k, 32);
    }
    return NULL;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    enum { MOST = 16 };
    int nt = queries < 64 ? 1 : call->threads > MOST ? MOST : call->threads;
    slice s[MOST];
    pthread_t id[MOST];
    for (int t = 0; t < nt; t++) {
        s[t] = (slice){call, queries * t / nt, queries * (t + 1) / nt, queries, dim, vocab, index, weight, out};
        if (t) pthread_create(&id[t], NULL, gather, &s[t]);
    }
    gather(&s[0]);
    for (int t = 1; t < nt; t++) pthread_join(id[t], NULL);
    return 0;
}
