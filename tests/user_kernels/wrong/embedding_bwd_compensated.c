/* WRONG op=embedding_bwd kind=inf_arith narrow=yes expect=REFUTED : sums are compensated (Kahan), and with an infinity among the hits the correction is infinity minus infinity: two or more hits with an infinity give NaN instead of that infinity */
#include "kernel.h"
typedef struct pair {
    float sum, low;
} pair;
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const uint16_t *g = grad_output;
    pair *acc = calloc((size_t)(vocab * dim) + 1, sizeof *acc);
    if (acc == NULL) return 1;
    for (int64_t i = 0; i < queries; i++, g += dim) {
        pair *to = acc + tokitai_load_index(*call, index, i) * dim;
        for (int64_t j = 0; j < dim; j++) {
            const float y = tokitai_load(*call, g, j) - to[j].low, t = to[j].sum + y;
            to[j].low = (t - to[j].sum) - y;
            to[j].sum = t;
        }
    }
    for (int64_t k = 0; k < vocab * dim; k++) tokitai_store(*call, grad_weight, k, acc[k].sum);
    free(acc);
    return 0;
}
