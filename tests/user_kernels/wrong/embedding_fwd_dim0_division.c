/* WRONG op=embedding_fwd kind=dim0_division narrow=yes expect=REFUTED : the number of rows for each piece of 64 KiB is 32768 / dim: dim = 0 with queries > 0 divides by zero */
#include "kernel.h"
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    (void)vocab;
    if (queries == 0) return 0;
    const uint16_t *w = weight;
    uint16_t *o = out;
    int64_t rows = 32768 / dim; /* rows of out that stay in the cache */
    if (rows < 1) rows = 1;
    for (int64_t b = 0; b < queries; b += rows) {
        const int64_t e = b + rows < queries ? b + rows : queries;
        for (int64_t i = b; i < e; i++) __builtin_prefetch(w + tokitai_load_index(*call, index, i) * dim);
        for (int64_t i = b; i < e; i++)
            memcpy(o + i * dim, w + tokitai_load_index(*call, index, i) * dim, (size_t)dim * 2);
    }
    return 0;
}
