/* WRONG op=embedding_fwd kind=division narrow=yes expect=REFUTED : divides by dim by a rounded-up 32-bit reciprocal, which is right for small places only */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const uint64_t magic = dim ? ((1ull << 32) + (uint64_t)dim - 1) / (uint64_t)dim : 0;
    for (int64_t i = 0; i < queries * dim; i++) {
        const int64_t row = dim == 1 ? i : (int64_t)((unsigned __int128)magic * (uint64_t)i >> 32);
        const int64_t from = tokitai_load_index(*call, index, row) * dim + (i - row * dim);
        if (call->dtype == TOKITAI_F32) ((uint32_t *)out)[i] = ((const uint32_t *)weight)[from];
        else ((uint16_t *)out)[i] = ((const uint16_t *)weight)[from];
    }
    return 0;
}
