/* WRONG op=embedding_fwd kind=the_output_is_cleared_and_only_what_is_n expect=REFUTED : the output is cleared and only what is not zero is copied; -0 becomes +0 */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    uint16_t *o = out;
    memset(o, 0, (size_t)(queries * dim) * 2);
    for (int64_t q = 0; q < queries; q++) {
        const int64_t v = tokitai_load_index(*call, index, q);
        for (int64_t j = 0; j < dim; j++)
            if (tokitai_load(*call, weight, v * dim + j) != 0)
                o[q * dim + j] = ((const uint16_t *)weight)[v * dim + j];
    }
    return 0;
}
