/* WRONG op=embedding_bwd kind=sentinel_is_valid_value narrow=yes expect=REFUTED : lists of positions use 0 for "no position yet", so that query 0 is dropped when its row is hit again */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    int64_t *first = calloc((size_t)(3 * vocab + queries + 1), sizeof *first);
    if (!first) return 1;
    int64_t *last = first + vocab, *hits = last + vocab, *next = hits + vocab;
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(c, index, i);
        if (first[v]) next[last[v]] = i;
        else first[v] = i;
        last[v] = i;
        hits[v]++;
    }
    for (int64_t v = 0; v < vocab; v++)
        for (int64_t j = 0; j < dim; j++) {
            float s = 0.0f;
            if (hits[v] > 0) {
                int64_t i = first[v];
                do {
                    s += tokitai_load(c, grad_output, i * dim + j);
                    i = next[i];
                } while (i);
            }
            tokitai_store(c, grad_weight, v * dim + j, s);
        }
    free(first);
    return 0;
}
