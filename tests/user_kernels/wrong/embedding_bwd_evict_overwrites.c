/* WRONG op=embedding_bwd kind=evict_overwrites narrow=yes expect=REFUTED : sums live in a cache of 1024 rows, mapped by v mod 1024; an evicted row is stored, but when it is hit again its sum starts from 0: two rows that differ by a multiple of 1024, hit in turn (vocab > 1024) */
#include "kernel.h"
#define SETS 1024
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    int64_t *tag = malloc(SETS * sizeof *tag);
    float *sum = malloc((size_t)(SETS * dim + 1) * sizeof *sum);
    if (!tag || !sum) return 1;
    for (int s = 0; s < SETS; s++) tag[s] = -1;
    if (vocab * dim != 0) memset(grad_weight, 0, (size_t)(vocab * dim) * 2);
    for (int64_t i = 0; i < queries; i++) {
        const int64_t v = tokitai_load_index(*call, index, i), s = v & (SETS - 1);
        float *a = sum + s * dim;
        if (tag[s] != v) {
            if (tag[s] >= 0)
                for (int64_t c = 0; c < dim; c++) tokitai_store(*call, grad_weight, tag[s] * dim + c, a[c]);
            tag[s] = v;
            for (int64_t c = 0; c < dim; c++) a[c] = 0.0f;
        }
        for (int64_t c = 0; c < dim; c++) a[c] += tokitai_load(*call, grad_output, i * dim + c);
    }
    for (int64_t s = 0; s < SETS; s++)
        for (int64_t c = 0; tag[s] >= 0 && c < dim; c++)
            tokitai_store(*call, grad_weight, tag[s] * dim + c, sum[s * dim + c]);
    free(tag);
    free(sum);
    return 0;
}
