/* WRONG op=embedding_bwd kind=output_dtype_accumulate narrow=no expect=REFUTED : hits are added directly into grad_weight, which rounds to 16 bits after every addition, wrong from the third hit on */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    if (vocab * dim > 0) memset(grad_weight, 0, (size_t)(vocab * dim) * 2);
    for (int64_t i = 0; i < queries; i++) {
        const int64_t row = tokitai_load_index(*call, index, i) * dim;
        for (int64_t j = 0; j < dim; j++)
            tokitai_store(*call, grad_weight, row + j,
                          tokitai_load(*call, grad_weight, row + j) + tokitai_load(*call, grad_output, i * dim + j));
    }
    return 0;
}
