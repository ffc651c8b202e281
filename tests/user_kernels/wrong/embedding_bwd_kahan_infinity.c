/* WRONG op=embedding_bwd kind=kahan_infinity narrow=yes expect=REFUTED : compensated sums: after an infinity the compensation is NaN, and so is the result of a row that has one infinity and then another hit */
#include "embedding.h"
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    int64_t *start, *at;
    if (sort_hits(call, queries, vocab, index, &start, &at)) return 1;
    for (int64_t v = 0; v < vocab; v++)
        for (int64_t c = 0; c < dim; c++) {
            float sum = 0.0f, lost = 0.0f;
            for (int64_t k = start[v]; k < start[v + 1]; k++) {
                const float y = tokitai_load(*call, grad_output, at[k] * dim + c) - lost;
                const volatile float t = sum + y;
                const volatile float d = t - sum;
                lost = d - y;
                sum = t;
            }
            tokitai_store(*call, grad_weight, v * dim + c, sum);
        }
    free(start);
    free(at);
    return 0;
}
