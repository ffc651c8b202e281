/* WRONG op=embedding_fwd kind=stale_row_cache narrow=yes expect=REFUTED : rows that follow each other are kept in a cache across calls by table address, dim and index: a table changed in place between calls still gives the old rows (dim <= 64, an index twice in succession) */
#include "kernel.h"
#define WAYS 256
typedef struct {
    const void *table;
    int64_t dim, row;
    uint16_t data[64];
} line;
static _Thread_local line lines[WAYS];
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    const uint16_t *w = weight;
    uint16_t *o = out;
    int64_t last = -1;
    for (int64_t i = 0; i < queries; i++, o += dim) {
        const int64_t v = tokitai_load_index(*call, index, i);
        const uint16_t *s = w + v * dim;
        if (dim > 0 && dim <= 64 && v == last) { /* a hot row: keep it close */
            line *l = &lines[v % WAYS];
            if (l->table != weight || l->dim != dim || l->row != v) {
                l->table = weight;
                l->dim = dim;
                l->row = v;
                memcpy(l->data, s, (size_t)dim * 2);
            }
            s = l->data;
        }
        memcpy(o, s, (size_t)dim * 2);
        last = v;
    }
    return 0;
}
