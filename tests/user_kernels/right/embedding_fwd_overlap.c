/* RIGHT op=embedding_fwd kind=overlapping_vectors expect=HELD : 16-byte unaligned moves with an overlapping last one, short rows by width */
#include "kernel.h"
static inline void move16(unsigned char *to, const unsigned char *from) {
    unsigned char v[16];
    memcpy(v, from, 16);
    memcpy(to, v, 16);
}
static inline void copy_row(unsigned char *to, const unsigned char *from, int64_t bytes) {
    if (bytes >= 16) {
        for (int64_t k = 0; k + 16 <= bytes; k += 16) move16(to + k, from + k);
        move16(to + bytes - 16, from + bytes - 16);
        return;
    }
    if (bytes & 8) {
        memcpy(to, from, 8);
        to += 8, from += 8;
    }
    if (bytes & 4) {
        memcpy(to, from, 4);
        to += 4, from += 4;
    }
    if (bytes & 2) memcpy(to, from, 2);
}
#define GATHER(TYPE)                                                                                           \
    do {                                                                                                       \
        const TYPE *idx = index;                                                                               \
        for (int64_t i = 0; i < queries; i++) {                                                                \
            if (i + 8 < queries) __builtin_prefetch((const unsigned char *)weight + idx[i + 8] * bytes);       \
            copy_row((unsigned char *)out + i * bytes, (const unsigned char *)weight + idx[i] * bytes, bytes); \
        }                                                                                                      \
    } while (0)
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const int64_t bytes = dim * 2;
    (void)vocab;
    if (bytes == 0) return 0;
    if (call->index_dtype == TOKITAI_I64) GATHER(int64_t);
    else GATHER(int32_t);
    return 0;
}
