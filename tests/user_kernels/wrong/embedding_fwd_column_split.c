/* WRONG op=embedding_fwd kind=column_split narrow=yes expect=REFUTED : with fewer queries than threads columns are shared out, by dim / threads rounded down to 16, and the rest of the last share is forgotten unless dim is a multiple of 16 * threads (dim >= 1024) */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    int64_t q0, q1, c0, c1, dim;
    const void *index;
    const uint16_t *weight;
    uint16_t *out;
} tile;
static void *copy(void *p) {
    const tile *t = p;
    for (int64_t i = t->q0; i < t->q1; i++)
        memcpy(t->out + i * t->dim + t->c0, t->weight + tokitai_load_index(*t->call, t->index, i) * t->dim + t->c0,
               (size_t)(t->c1 - t->c0) * 2);
    return NULL;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    enum { MOST = 16 };
    tile t[MOST];
    pthread_t id[MOST];
    int nt = call->threads > MOST ? MOST : call->threads;
    const int by_columns = queries < nt && dim >= 1024;
    if (!by_columns && queries < 256) nt = 1;
    const int64_t cols = (dim / nt) & ~(int64_t)15;
    for (int k = 0; k < nt; k++) {
        if (by_columns) t[k] = (tile){call, 0, queries, k * cols, (k + 1) * cols, dim, index, weight, out};
        else t[k] = (tile){call, queries * k / nt, queries * (k + 1) / nt, 0, dim, dim, index, weight, out};
        if (k) pthread_create(&id[k], NULL, copy, &t[k]);
    }
    copy(&t[0]);
    for (int k = 1; k < nt; k++) pthread_join(id[k], NULL);
    return 0;
}
