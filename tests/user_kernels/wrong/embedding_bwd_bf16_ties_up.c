/* WRONG op=embedding_bwd kind=bf16_ties_up narrow=yes expect=REFUTED : own conversion to bf16 adds 0x8000 and shifts, which rounds ties away from zero: bf16 only, sums halfway between two values, such as 1 + 2^-8 */
#include "embedding.h"
static uint16_t to_bf16(float f) {
    uint32_t b;
    memcpy(&b, &f, 4);
    if ((b & 0x7fffffff) > 0x7f800000) return (uint16_t)(b >> 16 | 0x40);
    return (uint16_t)((b + 0x8000) >> 16);
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    int64_t *start, *at;
    if (sort_hits(call, queries, vocab, index, &start, &at)) return 1;
    const uint16_t *g = grad_output;
    uint16_t *out = grad_weight;
    for (int64_t v = 0; v < vocab; v++)
        for (int64_t c = 0; c < dim; c++) {
            float sum = 0.0f;
            if (call->dtype == TOKITAI_F16) {
                for (int64_t k = start[v]; k < start[v + 1]; k++) sum += tokitai_from_f16(g[at[k] * dim + c]);
                out[v * dim + c] = tokitai_to_f16(sum);
            } else {
                for (int64_t k = start[v]; k < start[v + 1]; k++) sum += tokitai_from_bf16(g[at[k] * dim + c]);
                out[v * dim + c] = to_bf16(sum);
            }
        }
    free(start);
    free(at);
    return 0;
}
