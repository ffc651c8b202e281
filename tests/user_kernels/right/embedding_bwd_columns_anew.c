/* RIGHT op=embedding_bwd kind=each_thread_has_columns_of_its_own expect=HELD : each thread has columns of its own; fp32 table on the heap */
#include "threads.h"
typedef struct {
    tokitai_call c;
    int64_t q, dim, vocab;
    const void *g, *ix;
    void *w;
    float *sum;
} args;
static void work(void *p, int64_t b, int64_t e) {
    const args *a = p;
    for (int64_t q = 0; q < a->q; q++) {
        const int64_t v = tokitai_load_index(a->c, a->ix, q);
        for (int64_t j = b; j < e; j++) a->sum[v * a->dim + j] += tokitai_load(a->c, a->g, q * a->dim + j);
    }
    for (int64_t v = 0; v < a->vocab; v++)
        for (int64_t j = b; j < e; j++) tokitai_store(a->c, a->w, v * a->dim + j, a->sum[v * a->dim + j]);
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    args a = {*call, queries, dim, vocab, grad_output, index, grad_weight, calloc((size_t)(vocab * dim) + 1, 4)};
    parallel_for(call->threads, dim, work, &a);
    free(a.sum);
    return 0;
}
