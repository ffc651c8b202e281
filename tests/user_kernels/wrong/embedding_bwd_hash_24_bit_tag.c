/* WRONG op=embedding_bwd kind=narrow_tag narrow=yes expect=REFUTED : rows are found in a hash table by a tag of 24 bits */
#include "kernel.h"
typedef struct slot {
    uint32_t tag; /* 24 bits of the index, and a bit that says that it is used */
    int64_t row, sums;
} slot;
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *g,
                          const void *index, void *gw) {
    int64_t room = 16, used = 0;
    while (room < 2 * queries) room *= 2;
    slot *table = calloc((size_t)room, sizeof *table);
    float *sums = calloc((size_t)(queries * dim) + 1, sizeof *sums);
    if (!table || !sums) return 1;
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(*call, index, i);
        const uint32_t tag = ((uint32_t)v & 0xffffff) | 0x80000000u;
        int64_t at = (int64_t)((tag * 2654435761u) & (uint32_t)(room - 1));
        while (table[at].tag && table[at].tag != tag) at = (at + 1) & (room - 1);
        if (!table[at].tag) table[at] = (slot){tag, v, used++};
        for (int64_t l = 0; l < dim; l++) sums[table[at].sums * dim + l] += tokitai_load(*call, g, i * dim + l);
    }
    memset(gw, 0, (size_t)(vocab * dim) * (call->result_dtype == TOKITAI_F32 ? 4 : 2));
    for (int64_t at = 0; at < room; at++)
        if (table[at].tag)
            for (int64_t l = 0; l < dim; l++)
                tokitai_store_result(*call, gw, table[at].row * dim + l, sums[table[at].sums * dim + l]);
    free(table);
    free(sums);
    return 0;
}
