/* WRONG op=embedding_bwd kind=last_segment narrow=yes expect=REFUTED : when vocab * dim > 262144 hits are sorted and a row is stored when the next begins; the last row is stored after the loop only if it has more than one hit */
#include "embedding.h"
static void dense(const tokitai_call *call, int64_t queries, int64_t dim, int64_t cells, const void *g,
                  const void *index, float *sum, void *out) {
    for (int64_t i = 0; i < queries; i++) {
        float *s = sum + tokitai_load_index(*call, index, i) * dim;
        for (int64_t c = 0; c < dim; c++) s[c] += tokitai_load(*call, g, i * dim + c);
    }
    for (int64_t k = 0; k < cells; k++) tokitai_store(*call, out, k, sum[k]);
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const int64_t cells = vocab * dim;
    if (cells <= 262144) { /* the sums fit in the cache */
        float *sum = calloc((size_t)cells + 1, sizeof *sum);
        if (!sum) return 1;
        dense(call, queries, dim, cells, grad_output, index, sum, grad_weight);
        free(sum);
        return 0;
    }
    int64_t *start, *at;
    float *sum = calloc((size_t)dim + 1, sizeof *sum);
    if (!sum || sort_hits(call, queries, vocab, index, &start, &at)) return 1;
    memset(grad_weight, 0, (size_t)cells * 2);
    int64_t row = -1, length = 0;
    for (int64_t k = 0; k < queries; k++) {
        const int64_t v = tokitai_load_index(*call, index, at[k]);
        if (v != row) {
            for (int64_t c = 0; length && c < dim; c++) tokitai_store(*call, grad_weight, row * dim + c, sum[c]);
            memset(sum, 0, (size_t)dim * sizeof *sum);
            row = v;
            length = 0;
        }
        for (int64_t c = 0; c < dim; c++) sum[c] += tokitai_load(*call, grad_output, at[k] * dim + c);
        length++;
    }
    if (length > 1)
        for (int64_t c = 0; c < dim; c++) tokitai_store(*call, grad_weight, row * dim + c, sum[c]);
    free(sum);
    free(start);
    free(at);
    return 0;
}
