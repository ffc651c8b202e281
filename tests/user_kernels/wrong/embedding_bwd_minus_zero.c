/* WRONG op=embedding_bwd kind=negative_zero_identity narrow=no expect=REFUTED : sums start at -0.0, the identity of addition, so that a row without hits is -0 instead of +0 */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    float *acc = malloc((size_t)(vocab * dim + 1) * sizeof *acc);
    if (!acc) return 1;
    for (int64_t e = 0; e < vocab * dim; e++) acc[e] = -0.0f;
    for (int64_t i = 0; i < queries; i++) {
        float *row = acc + tokitai_load_index(c, index, i) * dim;
        for (int64_t j = 0; j < dim; j++) row[j] += tokitai_load(c, grad_output, i * dim + j);
    }
    for (int64_t e = 0; e < vocab * dim; e++) tokitai_store(c, grad_weight, e, acc[e]);
    free(acc);
    return 0;
}
