/* RIGHT op=embedding_fwd kind=memcpy_of_rows expect=HELD : memcpy of rows */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    if (dim)
        for (int64_t q = 0; q < queries; q++)
            memcpy((uint16_t *)out + q * dim, (const uint16_t *)weight + tokitai_load_index(*call, index, q) * dim,
                   (size_t)dim * 2);
    return 0;
}
