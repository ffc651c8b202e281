/* WRONG op=embedding_bwd kind=epoch_counter_wrap narrow=yes expect=REFUTED : rows already started are marked by an 8-bit call number that is never cleared; after 256 calls old marks are valid again and stale sums are continued */
#include <pthread.h>
#include "kernel.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *mark, epoch;
static float *sums;
static int64_t mark_room, sum_room;
static int reserve(int64_t vocab, int64_t elements) {
    if (vocab > mark_room) {
        free(mark);
        mark = calloc((size_t)vocab, 1);
        mark_room = mark ? vocab : 0;
    }
    if (elements > sum_room) {
        free(sums);
        sums = calloc((size_t)elements, sizeof *sums);
        sum_room = sums ? elements : 0;
    }
    return mark_room >= vocab && sum_room >= elements;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    pthread_mutex_lock(&lock);
    const int ok = reserve(vocab, vocab * dim);
    if (ok) {
        if (++epoch == 0) epoch = 1; /* 0 is a fresh mark */
        for (int64_t i = 0; i < queries; i++) {
            const int64_t v = tokitai_load_index(c, index, i);
            for (int64_t j = 0; j < dim; j++) {
                const float g = tokitai_load(c, grad_output, i * dim + j);
                sums[v * dim + j] = mark[v] == epoch ? sums[v * dim + j] + g : 0.0f + g;
            }
            mark[v] = epoch;
        }
        for (int64_t e = 0; e < vocab * dim; e++)
            tokitai_store(c, grad_weight, e, mark[e / dim] == epoch ? sums[e] : 0.0f);
    }
    pthread_mutex_unlock(&lock);
    return !ok;
}
