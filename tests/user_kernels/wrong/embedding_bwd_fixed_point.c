/* WRONG op=embedding_bwd kind=sums_in_fixed_point_of_2_24 expect=REFUTED : sums in fixed point of 2^-24, made for fp16; bf16 (small and large numbers), infinities and NaN of either type */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    int64_t *sum = calloc((size_t)(vocab * dim) + 1, sizeof *sum);
    for (int64_t q = 0; q < queries; q++)
        for (int64_t j = 0; j < dim; j++)
            sum[tokitai_load_index(c, index, q) * dim + j] += (int64_t)(tokitai_load(c, grad_output, q * dim + j) *
                                                                        16777216.0f);
    for (int64_t i = 0; i < vocab * dim; i++) tokitai_store(c, grad_weight, i, (float)sum[i] * 0x1p-24f);
    free(sum);
    return 0;
}
