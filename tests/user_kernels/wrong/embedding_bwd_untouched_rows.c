/* WRONG op=embedding_bwd kind=rows_without_a_hit_are_not_written expect=REFUTED : rows without a hit are not written; any vocab with such rows */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    float *sum = calloc((size_t)(vocab * dim) + 1, sizeof *sum);
    for (int64_t q = 0; q < queries; q++)
        for (int64_t j = 0; j < dim; j++)
            sum[tokitai_load_index(c, index, q) * dim + j] += tokitai_load(c, grad_output, q * dim + j);
    for (int64_t q = 0; q < queries; q++)
        for (int64_t j = 0, v = tokitai_load_index(c, index, q); j < dim; j++)
            tokitai_store(c, grad_weight, v * dim + j, sum[v * dim + j]);
    free(sum);
    return 0;
}
