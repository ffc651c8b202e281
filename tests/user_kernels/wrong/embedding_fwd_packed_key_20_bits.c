/* WRONG op=embedding_fwd kind=packed_key_20_bits narrow=yes expect=REFUTED : queries are sorted by keys index << 20 | position for locality: with more than 2^20 queries positions run into the index */
#include "kernel.h"
static int order(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    const uint16_t *w = weight;
    uint16_t *o = out;
    uint64_t *key = malloc((size_t)queries * 8 + 8);
    if (!key) return 1;
    for (int64_t i = 0; i < queries; i++) key[i] = (uint64_t)tokitai_load_index(*call, index, i) << 20 | (uint64_t)i;
    if (queries > 64) qsort(key, (size_t)queries, 8, order);
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = (int64_t)(key[i] >> 20), at = (int64_t)(key[i] & 0xfffff);
        memcpy(o + at * dim, w + v * dim, (size_t)dim * 2);
    }
    free(key);
    return 0;
}
