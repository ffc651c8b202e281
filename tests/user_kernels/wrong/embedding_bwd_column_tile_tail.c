/* WRONG op=embedding_bwd kind=column_tile_tail narrow=yes expect=REFUTED : columns are done in tiles of 128 by eights, the rest by a loop that starts at the last multiple of 8 of the tile but is left out in all tiles after the first: dim > 128 with dim mod 8 != 0 leaves its last columns 0 */
#include "embedding.h"
#define TILE 128
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    int64_t *start, *at;
    if (sort_hits(call, queries, vocab, index, &start, &at)) return 1;
    if (vocab * dim != 0) memset(grad_weight, 0, (size_t)(vocab * dim) * 2);
    for (int64_t c0 = 0; c0 < dim; c0 += TILE) {
        const int64_t width = dim - c0 < TILE ? dim - c0 : TILE, full = width & ~(int64_t)7;
        for (int64_t v = 0; v < vocab; v++) {
            if (start[v] == start[v + 1]) continue;
            float sum[TILE] = {0};
            for (int64_t k = start[v]; k < start[v + 1]; k++) {
                const int64_t base = at[k] * dim + c0;
                for (int64_t c = 0; c < full; c += 8)
                    for (int64_t u = 0; u < 8; u++) sum[c + u] += tokitai_load(*call, grad_output, base + c + u);
                for (int64_t c = c0 + full; c < width; c++) sum[c] += tokitai_load(*call, grad_output, base + c);
            }
            for (int64_t c = 0; c < width; c++) tokitai_store(*call, grad_weight, v * dim + c0 + c, sum[c]);
        }
    }
    free(start);
    free(at);
    return 0;
}
