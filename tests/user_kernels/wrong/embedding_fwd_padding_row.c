/* WRONG op=embedding_fwd kind=padding_index_zero narrow=no expect=REFUTED : index 0 is taken as padding and gives a row of zeros instead of weight[0] */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const size_t bytes = (size_t)dim * 2;
    (void)vocab;
    if (dim == 0) return 0;
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(*call, index, i);
        uint16_t *dst = (uint16_t *)out + i * dim;
        if (v == 0) memset(dst, 0, bytes);
        else memcpy(dst, (const uint16_t *)weight + v * dim, bytes);
    }
    return 0;
}
