/* WRONG op=embedding_bwd kind=repeated_indices_overwrite_instead_of_ad expect=REFUTED : repeated indices overwrite instead of adding; a row with two hits */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    memset(grad_weight, 0, (size_t)(vocab * dim) * 2);
    for (int64_t q = 0; q < queries; q++)
        memcpy((uint16_t *)grad_weight + tokitai_load_index(*call, index, q) * dim,
               (const uint16_t *)grad_output + q * dim, (size_t)dim * 2);
    return 0;
}
