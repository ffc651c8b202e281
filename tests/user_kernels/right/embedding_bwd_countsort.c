/* RIGHT op=embedding_bwd kind=counting_sort expect=HELD : stable counting sort of the hits, table rows split over threads, float sums in query order */
#include <pthread.h>
#include "kernel.h"
typedef struct job {
    const tokitai_call *call;
    int64_t first, last, dim;
    const int64_t *start, *hit;
    const uint16_t *grad;
    uint16_t *out;
} job;
static void *sum_rows(void *arg) {
    enum { WIDE = 64 };
    const job *w = arg;
    for (int64_t v = w->first; v < w->last; v++)
        for (int64_t c = 0; c < w->dim; c += WIDE) {
            const int64_t n = w->dim - c < WIDE ? w->dim - c : WIDE;
            float acc[WIDE] = {0};
            for (int64_t k = w->start[v]; k < w->start[v + 1]; k++) {
                const uint16_t *g = w->grad + w->hit[k] * w->dim + c;
                for (int64_t j = 0; j < n; j++) acc[j] += tokitai_load(*w->call, g, j);
            }
            for (int64_t j = 0; j < n; j++) tokitai_store(*w->call, w->out, v * w->dim + c + j, acc[j]);
        }
    return NULL;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { MOST = 16 };
    if (dim == 0 || vocab == 0) return 0;
    int64_t *start = calloc((size_t)vocab + 2, sizeof *start), *hit = malloc(((size_t)queries + 1) * sizeof *hit);
    if (start == NULL || hit == NULL) {
        free(start);
        free(hit);
        return 1;
    }
    for (int64_t i = 0; i < queries; i++) start[tokitai_load_index(*call, index, i) + 2]++;
    for (int64_t v = 0; v < vocab; v++) start[v + 2] += start[v + 1];
    for (int64_t i = 0; i < queries; i++) hit[start[tokitai_load_index(*call, index, i) + 1]++] = i;
    int64_t n = call->threads < MOST ? call->threads : MOST;
    if (n > vocab) n = vocab;
    pthread_t id[MOST];
    job w[MOST];
    int started[MOST] = {0};
    for (int64_t k = 0; k < n; k++) {
        w[k] = (job){call, vocab * k / n, vocab * (k + 1) / n, dim, start, hit, grad_output, grad_weight};
        started[k] = k + 1 < n && pthread_create(&id[k], NULL, sum_rows, &w[k]) == 0;
        if (!started[k]) sum_rows(&w[k]);
    }
    for (int64_t k = 0; k < n; k++)
        if (started[k]) pthread_join(id[k], NULL);
    free(start);
    free(hit);
    return 0;
}
