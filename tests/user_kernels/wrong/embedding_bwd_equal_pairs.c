/* WRONG op=embedding_bwd kind=pair_rounded narrow=yes expect=REFUTED : two queries 2i and 2i + 1 with the same index are added first and rounded to 16 bits before the fp32 sum, wrong if the row has other hits as well */
#include "kernel.h"
static float packed_add(tokitai_call c, float p, float q) {
    uint16_t v;
    tokitai_store(c, &v, 0, p + q);
    return tokitai_load(c, &v, 0);
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const tokitai_call c = *call;
    float *acc = calloc((size_t)(vocab * dim + 1), sizeof *acc);
    if (!acc) return 1;
    for (int64_t i = 0; i < queries; i += 2) {
        const int64_t v = tokitai_load_index(c, index, i);
        const int64_t w = i + 1 < queries ? tokitai_load_index(c, index, i + 1) : -1;
        for (int64_t j = 0; j < dim; j++) {
            const float p = tokitai_load(c, grad_output, i * dim + j);
            const float q = w >= 0 ? tokitai_load(c, grad_output, (i + 1) * dim + j) : 0.0f;
            if (v == w) {
                acc[v * dim + j] += packed_add(c, p, q);
                continue;
            }
            acc[v * dim + j] += p;
            if (w >= 0) acc[w * dim + j] += q;
        }
    }
    for (int64_t e = 0; e < vocab * dim; e++) tokitai_store(c, grad_weight, e, acc[e]);
    free(acc);
    return 0;
}
