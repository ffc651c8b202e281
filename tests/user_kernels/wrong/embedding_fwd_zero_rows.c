/* WRONG op=embedding_fwd kind=neg_zero_lost narrow=yes expect=REFUTED : table rows that compare equal to zero throughout (padding) are noted once and cleared in the output by memset, so that a row of zeros with a -0 loses the sign */
#include "kernel.h"
static int is_zero(const tokitai_call *call, const uint16_t *row, int64_t dim) {
    for (int64_t j = 0; j < dim; j++)
        if (tokitai_load(*call, row, j) != 0.0f) return 0;
    return 1;
}
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index,
                          const void *weight, void *out) {
    enum { UNKNOWN, ZERO, OTHER };
    if (queries == 0 || dim == 0) return 0;
    const size_t bytes = (size_t)dim * sizeof(uint16_t);
    unsigned char *kind = calloc((size_t)vocab, 1);
    if (kind == NULL) return 1;
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(*call, index, i);
        const uint16_t *row = (const uint16_t *)weight + v * dim;
        uint16_t *to = (uint16_t *)out + i * dim;
        if (kind[v] == UNKNOWN) kind[v] = is_zero(call, row, dim) ? ZERO : OTHER;
        if (kind[v] == ZERO) memset(to, 0, bytes);
        else memcpy(to, row, bytes);
    }
    free(kind);
    return 0;
}
