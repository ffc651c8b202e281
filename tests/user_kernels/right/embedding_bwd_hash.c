/* RIGHT op=embedding_bwd kind=hash expect=HELD : distinct indices get slots by open addressing, each slot a row of doubles; other rows are zeroed */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { WIDE = 32 };
    if (dim == 0 || vocab == 0) return 0;
    memset(grad_weight, 0, (size_t)(vocab * dim) * sizeof(uint16_t));
    if (queries == 0) return 0;
    int shift = 60;
    while (((int64_t)1 << (64 - shift)) < 2 * queries) shift--;
    const uint64_t mask = ((uint64_t)1 << (64 - shift)) - 1;
    int64_t *slot = malloc((mask + 1) * sizeof *slot), *row = malloc((size_t)queries * sizeof *row),
            *of = malloc((size_t)queries * sizeof *of);
    int64_t distinct = 0;
    if (slot == NULL || row == NULL || of == NULL) {
        free(slot), free(row), free(of);
        return 1;
    }
    memset(slot, 0xff, (mask + 1) * sizeof *slot);
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(*call, index, i);
        uint64_t h = (uint64_t)v * 0x9e3779b97f4a7c15u >> shift;
        while (slot[h] >= 0 && row[slot[h]] != v) h = (h + 1) & mask;
        if (slot[h] < 0) {
            row[distinct] = v;
            slot[h] = distinct++;
        }
        of[i] = slot[h];
    }
    free(slot);
    double *acc = malloc((size_t)distinct * WIDE * sizeof *acc);
    if (acc == NULL) {
        free(row), free(of);
        return 1;
    }
    for (int64_t c = 0; c < dim; c += WIDE) {
        const int64_t n = dim - c < WIDE ? dim - c : WIDE;
        memset(acc, 0, (size_t)distinct * WIDE * sizeof *acc);
        for (int64_t i = 0; i < queries; i++)
            for (int64_t j = 0; j < n; j++)
                acc[of[i] * WIDE + j] += tokitai_load(*call, grad_output, i * dim + c + j);
        for (int64_t s = 0; s < distinct; s++)
            for (int64_t j = 0; j < n; j++)
                tokitai_store(*call, grad_weight, row[s] * dim + c + j, (float)acc[s * WIDE + j]);
    }
    free(acc), free(row), free(of);
    return 0;
}
