/* WRONG op=embedding_fwd kind=indices_are_read_as_int64_whatever_they expect=REFUTED : indices are read as int64 whatever they are; index type int32 */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const int64_t *ix = index;
    for (int64_t q = 0; q < queries; q++)
        memcpy((uint16_t *)out + q * dim, (const uint16_t *)weight + ix[q] * dim, (size_t)dim * 2);
    return 0;
}
