/* WRONG op=embedding_bwd kind=count_truncation narrow=yes expect=REFUTED : the counts of the counting sort have 16 bits, so that an index hit 65536 times or more loses its first 65536 hits */
#include "kernel.h"
typedef struct bucket {
    int64_t head; /* last hit of the row, hits are chained backwards */
    uint16_t count;
} bucket;
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { WIDE = 64 };
    bucket *b = calloc((size_t)vocab + 1, sizeof *b);
    int64_t *previous = malloc(((size_t)queries + 1) * sizeof *previous);
    if (b == NULL || previous == NULL) {
        free(b), free(previous);
        return 1;
    }
    for (int64_t i = 0; i < queries; i++) {
        bucket *to = &b[tokitai_load_index(*call, index, i)];
        previous[i] = to->head;
        to->head = i;
        to->count++;
    }
    for (int64_t v = 0; v < vocab; v++)
        for (int64_t c = 0; c < dim; c += WIDE) {
            const int64_t n = dim - c < WIDE ? dim - c : WIDE;
            float acc[WIDE] = {0};
            int64_t i = b[v].head;
            for (int left = b[v].count; left > 0; left--, i = previous[i])
                for (int64_t j = 0; j < n; j++) acc[j] += tokitai_load(*call, grad_output, i * dim + c + j);
            for (int64_t j = 0; j < n; j++) tokitai_store(*call, grad_weight, v * dim + c + j, acc[j]);
        }
    free(b), free(previous);
    return 0;
}
