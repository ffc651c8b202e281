/* WRONG op=embedding_bwd kind=kept_scratch_too_small expect=REFUTED : kept scratch too small, it grows with vocab but not with dim; a call with a larger dim after one with more rows: heap overrun */
#include "kernel.h"
static float *sum;
static int64_t room;
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    if (!sum || vocab > room) {
        free(sum);
        sum = malloc((size_t)((room = vocab) * dim) * sizeof *sum + 4);
    }
    memset(sum, 0, (size_t)(vocab * dim) * sizeof *sum);
    for (int64_t q = 0; q < queries; q++)
        for (int64_t j = 0; j < dim; j++)
            sum[tokitai_load_index(c, index, q) * dim + j] += tokitai_load(c, grad_output, q * dim + j);
    for (int64_t i = 0; i < vocab * dim; i++) tokitai_store(c, grad_weight, i, sum[i]);
    return 0;
}
