/* WRONG op=embedding_bwd kind=index_width narrow=yes dtype=f32 expect=REFUTED : sorts by radix in three passes of 6 bits, and stores each run of equal indices: in tables of more than 2^18 rows runs can come apart */
#include <stdlib.h>
#include <tokitai_kernel.h>
enum { BITS = 6, PASSES = 3, BUCKETS = 1 << BITS };
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const float *g = grad_output;
    float *to = grad_weight;
    int64_t *order = malloc((size_t)(2 * queries + 1) * sizeof *order);
    if (!order) return 1;
    int64_t *other = order + queries, *from = order;
    for (int64_t i = 0; i < queries; i++) from[i] = i;
    for (int p = 0; p < PASSES; p++) {
        int64_t at[BUCKETS + 1] = {0};
        for (int64_t i = 0; i < queries; i++)
            at[(tokitai_load_index(*call, index, from[i]) >> p * BITS) % BUCKETS + 1]++;
        for (int b = 0; b < BUCKETS; b++) at[b + 1] += at[b];
        for (int64_t i = 0; i < queries; i++)
            other[at[(tokitai_load_index(*call, index, from[i]) >> p * BITS) % BUCKETS]++] = from[i];
        int64_t *const swap = from;
        from = other;
        other = swap;
    }
    for (int64_t i = 0; i < vocab * dim; i++) to[i] = 0;
    for (int64_t b = 0; b < queries;) {
        const int64_t v = tokitai_load_index(*call, index, from[b]);
        int64_t e = b;
        while (e < queries && tokitai_load_index(*call, index, from[e]) == v) e++;
        for (int64_t j = 0; j < dim; j++) {
            double sum = 0;
            for (int64_t i = b; i < e; i++) sum += (double)g[from[i] * dim + j];
            to[v * dim + j] = (float)sum;
        }
        b = e;
    }
    free(order);
    return 0;
}
