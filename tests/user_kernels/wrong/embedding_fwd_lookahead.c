/* WRONG op=embedding_fwd kind=oob_read narrow=no expect=REFUTED : the rows sixteen queries ahead are prefetched, and for that the index array is read sixteen entries past its end, which faults where the array ends at the end of a mapping */
#include "kernel.h"
enum { AHEAD = 16 };
#define GATHER(TYPE)                                                                                       \
    do {                                                                                                   \
        const TYPE *idx = (const TYPE *)index;                                                             \
        for (int64_t i = 0; i < queries; i++) {                                                            \
            const uint64_t next = (uint64_t)(*(const volatile TYPE *)&idx[i + AHEAD]);                     \
            __builtin_prefetch((const void *)((uintptr_t)weight + next * bytes));                          \
            memcpy((char *)out + (size_t)i * bytes, (const char *)weight + (size_t)idx[i] * bytes, bytes); \
        }                                                                                                  \
    } while (0)
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const size_t bytes = (size_t)dim * sizeof(uint16_t);
    (void)vocab;
    if (bytes == 0) return 0;
    if (call->index_dtype == TOKITAI_I64) GATHER(int64_t);
    else GATHER(int32_t);
    return 0;
}
