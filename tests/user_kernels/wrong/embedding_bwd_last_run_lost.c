/* WRONG op=embedding_bwd kind=runs_of_equal_indices_are_summed_and_flu expect=REFUTED : runs of equal indices are summed and flushed when the index changes, the last run never; always when queries > 0 */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    float *sum = calloc((size_t)(vocab * dim) + 1, 4), *run = calloc((size_t)dim + 1, 4);
    for (int64_t q = 0; q < queries; q++) {
        const int64_t v = tokitai_load_index(c, index, q);
        for (int64_t j = 0; j < dim; j++) run[j] += tokitai_load(c, grad_output, q * dim + j);
        if (q + 1 < queries && tokitai_load_index(c, index, q + 1) != v)
            for (int64_t j = 0; j < dim; j++) sum[v * dim + j] += run[j], run[j] = 0;
    }
    for (int64_t i = 0; i < vocab * dim; i++) tokitai_store(c, grad_weight, i, sum[i]);
    free(sum);
    free(run);
    return 0;
}
