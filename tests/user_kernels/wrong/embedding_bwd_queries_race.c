/* WRONG op=embedding_bwd kind=race expect=REFUTED : race, threads over queries add to one table without a lock; several threads, many hits of few rows, from about 100000 queries on */
#include "threads.h"
typedef struct {
    tokitai_call c;
    int64_t dim;
    const void *g, *ix;
    float *sum;
} args;
static void work(void *p, int64_t b, int64_t e) {
    const args *a = p;
    for (int64_t q = b; q < e; q++) {
        float *row = a->sum + tokitai_load_index(a->c, a->ix, q) * a->dim;
        for (int64_t j = 0; j < a->dim; j++) row[j] += tokitai_load(a->c, a->g, q * a->dim + j);
    }
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    args a = {*call, dim, grad_output, index, calloc((size_t)(vocab * dim) + 1, 4)};
    parallel_for(call->threads, queries, work, &a);
    for (int64_t i = 0; i < vocab * dim; i++) tokitai_store(*call, grad_weight, i, a.sum[i]);
    free(a.sum);
    return 0;
}
