/* WRONG op=embedding_fwd kind=a_repeated_index_is_copied_from_the_row expect=REFUTED : a repeated index is copied from the row before, and the first is compared with 0; index[0] == 0 */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    int64_t last = 0;
    const size_t bytes = (size_t)dim * 2;
    for (int64_t q = 0; q < queries; q++) {
        const int64_t v = tokitai_load_index(*call, index, q);
        char *d = (char *)out + q * bytes;
        if (v == last) memmove(d, d - bytes, bytes); /* still in the cache */
        else memcpy(d, (const char *)weight + v * bytes, bytes);
        last = v;
    }
    return 0;
}
