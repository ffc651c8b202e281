/* WRONG op=embedding_fwd kind=packed_key_overflow narrow=yes expect=REFUTED : queries of a block are sorted by 32-bit keys of index and position; an index from 2^20 on loses its upper bits */
#include "kernel.h"
enum { BLOCK = 4096 };
static int by_key(const void *p, const void *q) {
    const uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;
    return (a > b) - (a < b);
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const size_t bytes = (size_t)dim * 2;
    uint32_t *keys = malloc(BLOCK * sizeof *keys);
    (void)vocab;
    if (!keys) return 1;
    for (int64_t at = 0; at < queries && dim > 0; at += BLOCK) {
        const int64_t len = queries - at < BLOCK ? queries - at : BLOCK;
        for (int64_t i = 0; i < len; i++)
            keys[i] = (uint32_t)tokitai_load_index(*call, index, at + i) << 12 | (uint32_t)i;
        qsort(keys, (size_t)len, sizeof *keys, by_key); /* rows in ascending order for the cache */
        for (int64_t i = 0; i < len; i++)
            memcpy((uint16_t *)out + (at + (keys[i] & 4095)) * dim,
                   (const uint16_t *)weight + (int64_t)(keys[i] >> 12) * dim, bytes);
    }
    free(keys);
    return 0;
}
