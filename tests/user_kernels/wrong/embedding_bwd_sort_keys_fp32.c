/* WRONG op=embedding_bwd kind=fp32_index narrow=yes expect=REFUTED : sorts pairs of index and place by the index in fp32 */
#include "kernel.h"
typedef struct pair {
    float key;
    int64_t at;
} pair;
static int compare(const void *a, const void *b) {
    const pair *p = a, *q = b;
    return p->key != q->key ? (p->key > q->key) - (p->key < q->key) : (p->at > q->at) - (p->at < q->at);
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *g,
                          const void *index, void *gw) {
    pair *pairs = malloc(((size_t)queries + 1) * sizeof *pairs);
    float *sum = malloc(((size_t)dim + 1) * sizeof *sum);
    if (!pairs || !sum) return 1;
    for (int64_t i = 0; i < queries; i++) pairs[i] = (pair){(float)tokitai_load_index(*call, index, i), i};
    qsort(pairs, (size_t)queries, sizeof *pairs, compare);
    memset(gw, 0, (size_t)(vocab * dim) * (call->result_dtype == TOKITAI_F32 ? 4 : 2));
    for (int64_t k = 0; k < queries;) {
        const int64_t begin = k;
        for (int64_t l = 0; l < dim; l++) sum[l] = 0;
        for (; k < queries && pairs[k].key == pairs[begin].key; k++)
            for (int64_t l = 0; l < dim; l++) sum[l] += tokitai_load(*call, g, pairs[k].at * dim + l);
        for (int64_t l = 0; l < dim; l++)
            tokitai_store_result(*call, gw, tokitai_load_index(*call, index, pairs[begin].at) * dim + l, sum[l]);
    }
    free(pairs);
    free(sum);
    return 0;
}
