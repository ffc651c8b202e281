/* WRONG op=embedding_bwd kind=state_between_calls expect=REFUTED : state between calls, the scratch table is cleared only when it grows; the second call */
#include "kernel.h"
static float *sum;
static int64_t room;
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    if (vocab * dim > room) {
        free(sum);
        sum = calloc((size_t)(room = vocab * dim), sizeof *sum);
    }
    for (int64_t q = 0; q < queries; q++)
        for (int64_t j = 0; j < dim; j++)
            sum[tokitai_load_index(c, index, q) * dim + j] += tokitai_load(c, grad_output, q * dim + j);
    for (int64_t i = 0; i < vocab * dim; i++) tokitai_store(c, grad_weight, i, sum[i]);
    return 0;
}
