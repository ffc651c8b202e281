/* WRONG op=embedding_fwd kind=tail_dropped narrow=no expect=REFUTED : rows are copied as 32-bit words, dim / 2 of them, so that the last element of a row of odd dim is not written */
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
    const int64_t words = w->dim / 2;
    for (int64_t i = w->first; i < w->last; i++) {
        const uint16_t *from = w->weight + tokitai_load_index(*w->call, w->index, i) * w->dim;
        uint16_t *to = w->out + i * w->dim;
        for (int64_t k = 0; k < words; k++) {
            uint32_t v;
            memcpy(&v, from + 2 * k, sizeof v);
            memcpy(to + 2 * k, &v, sizeof v);
        }
    }
    return NULL;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    const int64_t middle = call->threads > 1 ? queries / 2 : queries;
    job a = {call, 0, middle, dim, index, weight, out}, b = {call, middle, queries, dim, index, weight, out};
    pthread_t id;
    const int other = middle < queries && pthread_create(&id, NULL, gather, &b) == 0;
    gather(&a);
    if (other) pthread_join(id, NULL);
    else gather(&b);
    return 0;
}
