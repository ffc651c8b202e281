/* WRONG op=embedding_bwd kind=stale_cache narrow=no expect=REFUTED : the counting sort of the last call is used again where address, length and table are the same, though the indices there have changed */
#include "kernel.h"
static struct {
    const void *index;
    int32_t type;
    int64_t queries, vocab;
    int64_t *start, *hit;
} plan;
static int make_plan(const tokitai_call *call, int64_t queries, int64_t vocab, const void *index) {
    if (plan.start && plan.index == index && plan.type == call->index_dtype && plan.queries == queries &&
        plan.vocab == vocab)
        return 1; /* same batch, next layer */
    free(plan.start);
    free(plan.hit);
    plan.start = calloc((size_t)vocab + 2, sizeof *plan.start);
    plan.hit = malloc(((size_t)queries + 1) * sizeof *plan.hit);
    if (plan.start == NULL || plan.hit == NULL) return 0;
    for (int64_t i = 0; i < queries; i++) plan.start[tokitai_load_index(*call, index, i) + 2]++;
    for (int64_t v = 0; v < vocab; v++) plan.start[v + 2] += plan.start[v + 1];
    for (int64_t i = 0; i < queries; i++) plan.hit[plan.start[tokitai_load_index(*call, index, i) + 1]++] = i;
    plan.index = index;
    plan.type = call->index_dtype;
    plan.queries = queries;
    plan.vocab = vocab;
    return 1;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { WIDE = 64 };
    if (dim == 0 || vocab == 0) return 0;
    if (!make_plan(call, queries, vocab, index)) return 1;
    for (int64_t v = 0; v < vocab; v++)
        for (int64_t c = 0; c < dim; c += WIDE) {
            const int64_t n = dim - c < WIDE ? dim - c : WIDE;
            float acc[WIDE] = {0};
            for (int64_t k = plan.start[v]; k < plan.start[v + 1]; k++)
                for (int64_t j = 0; j < n; j++) acc[j] += tokitai_load(*call, grad_output, plan.hit[k] * dim + c + j);
            for (int64_t j = 0; j < n; j++) tokitai_store(*call, grad_weight, v * dim + c + j, acc[j]);
        }
    return 0;
}
