/* WRONG op=embedding_fwd kind=index_0_taken_for_padding expect=REFUTED : index 0 taken for padding, its row is zeros; index 0 */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    for (int64_t q = 0; q < queries; q++) {
        const int64_t v = tokitai_load_index(*call, index, q);
        if (v == 0) memset((uint16_t *)out + q * dim, 0, (size_t)dim * 2);
        else memcpy((uint16_t *)out + q * dim, (const uint16_t *)weight + v * dim, (size_t)dim * 2);
    }
    return 0;
}
