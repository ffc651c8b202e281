/* RIGHT op=embedding_bwd kind=linked_lists_columns expect=HELD : one list of positions for each row, threads own disjoint column ranges and walk the lists in query order */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    tokitai_call call;
    int64_t dim, vocab, lo, hi;
    const int64_t *head, *next;
    const void *grad;
    void *out;
} share;
static void *work(void *arg) {
    const share *s = arg;
    for (int64_t v = 0; v < s->vocab; v++)
        for (int64_t j0 = s->lo; j0 < s->hi; j0 += 32) {
            const int w = s->hi - j0 < 32 ? (int)(s->hi - j0) : 32;
            float acc[32] = {0};
            for (int64_t i = s->head[v]; i >= 0; i = s->next[i])
                for (int l = 0; l < w; l++) acc[l] += tokitai_load(s->call, s->grad, i * s->dim + j0 + l);
            for (int l = 0; l < w; l++) tokitai_store(s->call, s->out, v * s->dim + j0 + l, acc[l]);
        }
    return 0;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { MOST = 8 };
    int64_t *head = malloc((size_t)(vocab + queries + 1) * sizeof *head);
    if (!head) return 1;
    int64_t *next = head + vocab;
    for (int64_t v = 0; v < vocab; v++) head[v] = -1;
    for (int64_t i = queries - 1; i >= 0; i--) { /* backwards: lists ascend */
        const int64_t v = tokitai_load_index(*call, index, i);
        next[i] = head[v];
        head[v] = i;
    }
    share s[MOST];
    pthread_t id[MOST];
    char up[MOST] = {0};
    int64_t parts = call->threads < MOST ? call->threads : MOST;
    if (parts * 32 > dim) parts = dim / 32 > 0 ? dim / 32 : 1;
    for (int64_t t = 0; t < parts; t++) {
        s[t] = (share){*call, dim,  vocab,       dim * t / parts, dim * (t + 1) / parts,
                       head,  next, grad_output, grad_weight};
        up[t] = t > 0 && pthread_create(&id[t], 0, work, &s[t]) == 0;
    }
    for (int64_t t = 0; t < parts; t++)
        if (!up[t]) work(&s[t]);
    for (int64_t t = 1; t < parts; t++)
        if (up[t]) pthread_join(id[t], 0);
    free(head);
    return 0;
}
