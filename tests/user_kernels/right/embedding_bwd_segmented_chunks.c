/* RIGHT op=embedding_bwd kind=segmented_chunks expect=HELD : sorted hits in chunks of 32 that do not heed rows, partial sums of rows joined afterwards in chunk order; threads take columns, so bits do not depend on them */
#include <pthread.h>
#include "embedding.h"
typedef struct {
    const tokitai_call *call;
    int64_t queries, dim, c0, c1;
    const int64_t *at;
    const void *g, *index;
    void *out;
    int started;
} strip;
static void *columns(void *a) {
    const strip *s = a;
    for (int64_t c = s->c0; c < s->c1; c++) {
        int64_t row = -1;
        float total = 0.0f;
        for (int64_t b = 0; b < s->queries; b += 32) {
            const int64_t e = b + 32 < s->queries ? b + 32 : s->queries;
            float part = 0.0f;
            for (int64_t k = b; k < e; k++) {
                const int64_t v = tokitai_load_index(*s->call, s->index, s->at[k]);
                if (v != row) {
                    if (row >= 0) tokitai_store(*s->call, s->out, row * s->dim + c, total + part);
                    row = v;
                    total = part = 0.0f;
                }
                part += tokitai_load(*s->call, s->g, s->at[k] * s->dim + c);
            }
            total += part;
        }
        if (row >= 0) tokitai_store(*s->call, s->out, row * s->dim + c, total);
    }
    return NULL;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { MOST = 16 };
    int64_t *start, *at;
    strip s[MOST];
    pthread_t id[MOST];
    const int nt = call->threads > MOST ? MOST : call->threads;
    if (sort_hits(call, queries, vocab, index, &start, &at)) return 1;
    if (vocab * dim != 0) memset(grad_weight, 0, (size_t)(vocab * dim) * 2);
    for (int t = 0; t < nt; t++) {
        s[t] = (strip){call, queries, dim, dim * t / nt, dim * (t + 1) / nt, at, grad_output, index, grad_weight, 0};
        if (t && s[t].c0 < s[t].c1) s[t].started = pthread_create(&id[t], NULL, columns, &s[t]) == 0;
    }
    for (int t = 0; t < nt; t++)
        if (s[t].started) pthread_join(id[t], NULL);
        else columns(&s[t]);
    free(start);
    free(at);
    return 0;
}
