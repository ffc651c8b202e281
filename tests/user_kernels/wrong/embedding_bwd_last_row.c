/* WRONG op=embedding_bwd kind=last_row narrow=yes expect=REFUTED : the offsets have one entry for each table row and the end of a row is the start of the next; the last row is given an empty range, and its hits are lost */
#include <pthread.h>
#include "kernel.h"
typedef struct job {
    const tokitai_call *call;
    int64_t first, last, dim, vocab;
    const int64_t *start, *hit;
    const uint16_t *grad;
    uint16_t *out;
} job;
static void *sum_rows(void *arg) {
    const job *w = arg;
    for (int64_t v = w->first; v < w->last; v++) {
        const int64_t from = w->start[v], to = v + 1 < w->vocab ? w->start[v + 1] : from;
        for (int64_t j = 0; j < w->dim; j++) {
            float sum = 0;
            for (int64_t k = from; k < to; k++) sum += tokitai_load(*w->call, w->grad, w->hit[k] * w->dim + j);
            tokitai_store(*w->call, w->out, v * w->dim + j, sum);
        }
    }
    return NULL;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    if (dim == 0 || vocab == 0) return 0;
    int64_t *start = calloc((size_t)vocab, sizeof *start), *fill = calloc((size_t)vocab, sizeof *fill);
    int64_t *hit = malloc(((size_t)queries + 1) * sizeof *hit);
    if (start == NULL || fill == NULL || hit == NULL) {
        free(start), free(fill), free(hit);
        return 1;
    }
    for (int64_t i = 0; i < queries; i++) fill[tokitai_load_index(*call, index, i)]++;
    for (int64_t v = 1; v < vocab; v++) start[v] = start[v - 1] + fill[v - 1];
    for (int64_t v = 0; v < vocab; v++) fill[v] = start[v];
    for (int64_t i = 0; i < queries; i++) hit[fill[tokitai_load_index(*call, index, i)]++] = i;
    const int64_t middle = call->threads > 1 ? vocab / 2 : vocab;
    job a = {call, 0, middle, dim, vocab, start, hit, grad_output, grad_weight}, b = a;
    b.first = middle;
    b.last = vocab;
    pthread_t id;
    const int other = middle < vocab && pthread_create(&id, NULL, sum_rows, &b) == 0;
    sum_rows(&a);
    if (other) pthread_join(id, NULL);
    else sum_rows(&b);
    free(start), free(fill), free(hit);
    return 0;
}
