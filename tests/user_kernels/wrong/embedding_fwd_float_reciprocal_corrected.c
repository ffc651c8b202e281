/* WRONG op=embedding_fwd kind=fp32_count narrow=yes expect=REFUTED : the row of a flat place by a reciprocal in fp32 and a correction by one, enough for some 2^22 rows */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const float each = 1.0f / (float)dim;
    for (int64_t i = 0; i < queries * dim; i++) {
        int64_t row = (int64_t)((float)i * each);
        row += (row + 1) * dim <= i;
        row -= row * dim > i;
        const int64_t from = tokitai_load_index(*call, index, row) * dim + (i - row * dim);
        if (call->dtype == TOKITAI_F32) ((uint32_t *)out)[i] = ((const uint32_t *)weight)[from];
        else ((uint16_t *)out)[i] = ((const uint16_t *)weight)[from];
    }
    return 0;
}
