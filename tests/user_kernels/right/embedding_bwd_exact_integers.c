/* RIGHT op=embedding_bwd kind=exact_integers expect=HELD : f16 is summed exactly in 128-bit integers of unit 2^-24, with infinities and NaN counted apart; bf16 in double */
#include "embedding.h"
static float sum_half(const uint16_t *g, const int64_t *at, int64_t hits, int64_t dim, int64_t c) {
    __int128 sum = 0;
    int64_t nan = 0, plus = 0, minus = 0;
    for (int64_t k = 0; k < hits; k++) {
        const uint16_t p = g[at[k] * dim + c];
        const int e = p >> 10 & 31, f = p & 1023;
        if (e == 31) {
            if (f) nan++;
            else if (p & 0x8000) minus++;
            else plus++;
            continue;
        }
        const int64_t m = e ? (int64_t)(1024 + f) << (e - 1) : f;
        sum += p & 0x8000 ? -m : m;
    }
    if (nan || (plus && minus)) return NAN;
    if (plus || minus) return plus ? INFINITY : -INFINITY;
    return (float)((double)sum * 0x1p-24);
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    int64_t *start, *at;
    const uint16_t *g = grad_output;
    uint16_t *out = grad_weight;
    if (sort_hits(call, queries, vocab, index, &start, &at)) return 1;
    for (int64_t v = vocab; v-- > 0;)
        for (int64_t c = 0; c < dim; c++) {
            if (call->dtype == TOKITAI_F16) {
                out[v * dim + c] = tokitai_to_f16(sum_half(g, at + start[v], start[v + 1] - start[v], dim, c));
                continue;
            }
            double sum = 0.0;
            for (int64_t k = start[v + 1]; k-- > start[v];) sum += tokitai_from_bf16(g[at[k] * dim + c]);
            out[v * dim + c] = tokitai_to_bf16((float)sum);
        }
    free(start);
    free(at);
    return 0;
}
