/* RIGHT op=embedding_bwd kind=column_split expect=HELD : each thread owns columns and adds all queries into its own float table of 16 columns at a time */
#include <pthread.h>
#include <stdatomic.h>
#include "kernel.h"
enum { WIDE = 16 };
typedef struct work {
    const tokitai_call *call;
    int64_t queries, dim, vocab;
    const uint16_t *grad;
    const void *index;
    uint16_t *out;
    atomic_llong next;
    atomic_int failed;
} work;
static void *columns(void *arg) {
    work *w = arg;
    const int64_t width = w->dim < WIDE ? w->dim : WIDE;
    float *acc = malloc((size_t)(w->vocab * width) * sizeof *acc);
    if (acc == NULL) {
        w->failed = 1;
        return NULL;
    }
    for (int64_t c; (c = atomic_fetch_add(&w->next, WIDE)) < w->dim;) {
        const int64_t n = w->dim - c < WIDE ? w->dim - c : WIDE;
        memset(acc, 0, (size_t)(w->vocab * width) * sizeof *acc);
        for (int64_t i = 0; i < w->queries; i++) {
            float *to = acc + tokitai_load_index(*w->call, w->index, i) * width;
            const uint16_t *g = w->grad + i * w->dim + c;
            for (int64_t j = 0; j < n; j++) to[j] += tokitai_load(*w->call, g, j);
        }
        for (int64_t v = 0; v < w->vocab; v++)
            for (int64_t j = 0; j < n; j++) tokitai_store(*w->call, w->out, v * w->dim + c + j, acc[v * width + j]);
    }
    free(acc);
    return NULL;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { MOST = 8 };
    if (dim == 0 || vocab == 0) return 0;
    work w = {call, queries, dim, vocab, grad_output, index, grad_weight, 0, 0};
    pthread_t id[MOST];
    int n = 0;
    while (n < MOST && n + 1 < call->threads && (n + 1) * WIDE < dim &&
           pthread_create(&id[n], NULL, columns, &w) == 0)
        n++;
    columns(&w);
    while (n > 0) pthread_join(id[--n], NULL);
    return w.failed;
}
