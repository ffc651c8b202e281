/* WRONG op=embedding_fwd kind=index_lookahead narrow=yes expect=REFUTED : prefetches the row of the query 8 ahead without a check: reads up to 8 indices past the end, a fault where the array ends with its page */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    const uint16_t *w = weight;
    uint16_t *o = out;
    const size_t bytes = (size_t)dim * 2;
    if (call->index_dtype == TOKITAI_I64) {
        const int64_t *v = index;
        for (int64_t i = 0; i < queries; i++, o += dim) {
            __builtin_prefetch((const char *)w + (uint64_t)v[i + 8] * bytes);
            memcpy(o, w + v[i] * dim, bytes);
        }
    } else {
        const int32_t *v = index;
        for (int64_t i = 0; i < queries; i++, o += dim) {
            __builtin_prefetch((const char *)w + (uint64_t)v[i + 8] * bytes);
            memcpy(o, w + v[i] * dim, bytes);
        }
    }
    return 0;
}
