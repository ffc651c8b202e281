/* WRONG op=embedding_fwd kind=alignment_phase narrow=yes expect=REFUTED : the copy peels elements until the destination is on 8 bytes and then reads whole words from the source rounded down to 8 bytes, so that source and destination of another phase give shifted rows (dim of 8 and more) */
#include "kernel.h"
static void copy_row(uint16_t *to, const uint16_t *from, int64_t n) {
    if (n >= 8) {
        while ((uintptr_t)to & 7) {
            *to++ = *from++;
            n--;
        }
        const uint16_t *word = (const uint16_t *)__builtin_assume_aligned(
            (const void *)((uintptr_t)from & ~(uintptr_t)7), 8);
        for (; n >= 4; n -= 4, to += 4, from += 4, word += 4) memcpy(__builtin_assume_aligned(to, 8), word, 8);
    }
    while (n-- > 0) *to++ = *from++;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    if (call->index_dtype == TOKITAI_I64) {
        const int64_t *idx = index;
        for (int64_t i = 0; i < queries; i++)
            copy_row((uint16_t *)out + i * dim, (const uint16_t *)weight + idx[i] * dim, dim);
    } else {
        const int32_t *idx = index;
        for (int64_t i = 0; i < queries; i++)
            copy_row((uint16_t *)out + i * dim, (const uint16_t *)weight + idx[i] * dim, dim);
    }
    return 0;
}
