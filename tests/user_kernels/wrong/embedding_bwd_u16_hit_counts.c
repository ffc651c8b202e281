/* WRONG op=embedding_bwd kind=u16_hit_counts narrow=yes expect=REFUTED : hits of a row are counted in 16 bits: a row with 65536 hits or more loses 65536 of them */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    uint16_t *count = calloc((size_t)vocab + 1, sizeof *count); /* half the cache of 32 bits */
    int64_t *start = malloc(((size_t)vocab + 1) * sizeof *start), *at = malloc(((size_t)queries + 1) * sizeof *at);
    float *sum = malloc(((size_t)dim + 1) * sizeof *sum);
    if (!count || !start || !at || !sum) return 1;
    for (int64_t i = 0; i < queries; i++) count[tokitai_load_index(*call, index, i)]++;
    int64_t total = 0;
    for (int64_t v = 0; v < vocab; v++) {
        start[v] = total;
        total += count[v];
        count[v] = 0;
    }
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(*call, index, i);
        at[start[v] + count[v]++] = i;
    }
    for (int64_t v = 0; v < vocab; v++) {
        for (int64_t c = 0; c < dim; c++) sum[c] = 0.0f;
        for (int64_t k = 0; k < count[v]; k++)
            for (int64_t c = 0; c < dim; c++) sum[c] += tokitai_load(*call, grad_output, at[start[v] + k] * dim + c);
        for (int64_t c = 0; c < dim; c++) tokitai_store(*call, grad_weight, v * dim + c, sum[c]);
    }
    free(count);
    free(start);
    free(at);
    free(sum);
    return 0;
}
