/* WRONG op=embedding_bwd kind=tail_dropped narrow=yes expect=REFUTED : columns go in tiles of 64 and a remainder in tiles of 8; what is left after both (dim % 8 columns, only where dim > 64) is cleared but never added to */
#include "kernel.h"
static void tile(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const uint16_t *g,
                 const void *index, uint16_t *out, int64_t column, int64_t width, float *acc) {
    memset(acc, 0, (size_t)(vocab * width) * sizeof *acc);
    for (int64_t i = 0; i < queries; i++) {
        float *to = acc + tokitai_load_index(*call, index, i) * width;
        for (int64_t j = 0; j < width; j++) to[j] += tokitai_load(*call, g, i * dim + column + j);
    }
    for (int64_t v = 0; v < vocab; v++)
        for (int64_t j = 0; j < width; j++) tokitai_store(*call, out, v * dim + column + j, acc[v * width + j]);
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    if (vocab == 0 || dim == 0) return 0;
    float *acc = malloc((size_t)vocab * 64 * sizeof *acc);
    if (acc == NULL) return 1;
    memset(grad_weight, 0, (size_t)(vocab * dim) * sizeof(uint16_t));
    int64_t c = 0;
    if (dim <= 64) {
        tile(call, queries, dim, vocab, grad_output, index, grad_weight, 0, dim, acc);
    } else {
        for (; c + 64 <= dim; c += 64) tile(call, queries, dim, vocab, grad_output, index, grad_weight, c, 64, acc);
        for (; c + 8 <= dim; c += 8) tile(call, queries, dim, vocab, grad_output, index, grad_weight, c, 8, acc);
    }
    free(acc);
    return 0;
}
