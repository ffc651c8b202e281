/* WRONG op=embedding_bwd kind=tail_rows_unwritten narrow=no expect=REFUTED : only the rows up to the largest index are cleared; rows above it keep what was in memory */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    int64_t rows = 0;
    (void)vocab;
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(c, index, i);
        rows = v >= rows ? v + 1 : rows;
    }
    float *acc = calloc((size_t)(rows * dim + 1), sizeof *acc);
    if (!acc) return 1;
    for (int64_t i = 0; i < queries; i++) {
        float *row = acc + tokitai_load_index(c, index, i) * dim;
        for (int64_t j = 0; j < dim; j++) row[j] += tokitai_load(c, grad_output, i * dim + j);
    }
    for (int64_t e = 0; e < rows * dim; e++) tokitai_store(c, grad_weight, e, acc[e]);
    free(acc);
    return 0;
}
