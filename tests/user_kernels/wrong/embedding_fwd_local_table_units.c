/* WRONG op=embedding_fwd kind=local_table_units narrow=yes expect=REFUTED : small tables are first copied to a local buffer of 8192 bytes, but the size is compared in elements: rows beyond 4096 elements are stale when 4096 < vocab * dim <= 8192 (queries >= 4 vocab) */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    static _Thread_local uint16_t
        local[8192 / sizeof(uint16_t)]; /* in the first-level cache, whatever the table's place */
    const uint16_t *w = weight;
    uint16_t *o = out;
    if (vocab * dim <= 8192 && queries >= 4 * vocab && dim > 0) {
        const size_t bytes = (size_t)(vocab * dim) * 2;
        memcpy(local, w, bytes < sizeof local ? bytes : sizeof local);
        for (int64_t i = 0; i < queries; i++) {
            const int64_t from = tokitai_load_index(*call, index, i) * dim;
            for (int64_t c = 0; c < dim; c++) o[i * dim + c] = local[(from + c)];
        }
        return 0;
    }
    for (int64_t i = 0; i < queries && dim > 0; i++)
        memcpy(o + i * dim, w + tokitai_load_index(*call, index, i) * dim, (size_t)dim * 2);
    return 0;
}
