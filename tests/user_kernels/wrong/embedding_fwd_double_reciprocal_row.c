/* WRONG op=embedding_fwd kind=division narrow=yes expect=REFUTED : the row of a flat place by i * (1.0 / dim), which is 0.99... for some */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const double each = 1.0 / (double)dim;
    for (int64_t i = 0; i < queries * dim; i++) {
        const int64_t row = (int64_t)((double)i * each);
        const int64_t from = tokitai_load_index(*call, index, row) * dim + (i - row * dim);
        if (call->dtype == TOKITAI_F32) ((uint32_t *)out)[i] = ((const uint32_t *)weight)[from];
        else ((uint16_t *)out)[i] = ((const uint16_t *)weight)[from];
    }
    return 0;
}
