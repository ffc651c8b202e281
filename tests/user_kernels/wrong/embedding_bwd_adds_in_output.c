/* WRONG op=embedding_bwd kind=accumulation_in_16_bits expect=REFUTED : accumulation in 16 bits, in the output itself; rows with several hits */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    memset(grad_weight, 0, (size_t)(vocab * dim) * 2);
    for (int64_t q = 0; q < queries; q++) {
        uint16_t *row = (uint16_t *)grad_weight + tokitai_load_index(*call, index, q) * dim;
        for (int64_t j = 0; j < dim; j++)
            tokitai_store(*call, row, j, tokitai_load(*call, row, j) + tokitai_load(*call, grad_output, q * dim + j));
    }
    return 0;
}
