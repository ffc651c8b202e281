/* WRONG op=embedding_bwd kind=bitmap_int_shift narrow=yes expect=REFUTED : rows that were hit are marked by 1 << (v & 63) in 64-bit words, an int shift: hit rows with v mod 64 >= 32 are stored as 0, unless row 31 or 63 of the same 64 is hit, whose sign extension marks them all */
#include "kernel.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const size_t words = (size_t)vocab / 64 + 1;
    uint64_t *seen = calloc(words, 8);
    float *sum = calloc((size_t)(vocab * dim) + 1, sizeof *sum);
    if (!seen || !sum) return 1;
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(*call, index, i);
        seen[v >> 6] |= (uint64_t)(1 << (v & 63));
        for (int64_t c = 0; c < dim; c++) sum[v * dim + c] += tokitai_load(*call, grad_output, i * dim + c);
    }
    for (int64_t v = 0; v < vocab; v++)
        if (seen[v >> 6] >> (v & 63) & 1)
            for (int64_t c = 0; c < dim; c++) tokitai_store(*call, grad_weight, v * dim + c, sum[v * dim + c]);
        else if (dim) memset((uint16_t *)grad_weight + v * dim, 0, (size_t)dim * 2);
    free(seen);
    free(sum);
    return 0;
}
