/* WRONG op=embedding_fwd kind=hash_collision narrow=yes expect=REFUTED : repeated rows are copied from their last place in the output, found in a direct-mapped cache of 64 lines with 8-bit tags, so that two indices that differ by a multiple of 16384 are taken for the same row */
#include "kernel.h"
enum { LINES = 64 };
typedef struct line {
    int64_t where; /* last query with this row, -1: none */
    uint8_t tag;
} line;
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    const size_t bytes = (size_t)dim * sizeof(uint16_t);
    uint16_t *o = out;
    line cache[LINES];
    (void)vocab;
    if (bytes == 0) return 0;
    for (int k = 0; k < LINES; k++) cache[k] = (line){-1, 0};
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(*call, index, i);
        line *l = &cache[v % LINES];
        const uint8_t tag = (uint8_t)(v / LINES);
        if (l->where >= 0 && l->tag == tag) /* still warm */
            memcpy(o + i * dim, o + l->where * dim, bytes);
        else memcpy(o + i * dim, (const uint16_t *)weight + v * dim, bytes);
        *l = (line){i, tag};
    }
    return 0;
}
