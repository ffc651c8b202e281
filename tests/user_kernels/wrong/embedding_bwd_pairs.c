/* WRONG op=embedding_bwd kind=vector_conflict narrow=yes expect=REFUTED : two queries are scattered at a time, both rows read before either is written, so that a pair (2k, 2k+1) of equal indices loses its first half */
#include "kernel.h"
enum { LANES = 8 };
static void add_two(const tokitai_call *call, const uint16_t *g0, const uint16_t *g1, float *a, float *b, int64_t n) {
    for (int64_t from = 0; from < n; from += LANES) {
        const int64_t m = n - from < LANES ? n - from : LANES;
        float u[LANES], v[LANES];
        for (int64_t j = 0; j < m; j++) {
            u[j] = a[from + j] + tokitai_load(*call, g0, from + j);
            v[j] = b[from + j] + tokitai_load(*call, g1, from + j);
        }
        for (int64_t j = 0; j < m; j++) {
            a[from + j] = u[j];
            b[from + j] = v[j];
        }
    }
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const uint16_t *g = grad_output;
    float *acc = calloc((size_t)(vocab * dim) + 1, sizeof *acc);
    if (acc == NULL) return 1;
    int64_t i = 0;
    for (; i + 2 <= queries; i += 2) {
        float *a = acc + tokitai_load_index(*call, index, i) * dim,
              *b = acc + tokitai_load_index(*call, index, i + 1) * dim;
        add_two(call, g + i * dim, g + (i + 1) * dim, a, b, dim);
    }
    if (i < queries) {
        float *a = acc + tokitai_load_index(*call, index, i) * dim;
        for (int64_t j = 0; j < dim; j++) a[j] += tokitai_load(*call, g, i * dim + j);
    }
    for (int64_t k = 0; k < vocab * dim; k++) tokitai_store(*call, grad_weight, k, acc[k]);
    free(acc);
    return 0;
}
