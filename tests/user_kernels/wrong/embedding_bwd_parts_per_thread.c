/* WRONG op=embedding_bwd kind=bits_depend_on_the_number_of_threads expect=REFUTED : bits depend on the number of threads, a table each, joined afterwards; rows with many hits of widely mixed size (bf16 mostly) */
#include "threads.h"
typedef struct {
    tokitai_call c;
    int64_t q, dim, size, parts;
    const void *g, *ix;
    float *sum;
} args;
static void work(void *p, int64_t b, int64_t e) {
    const args *a = p;
    for (int64_t t = b; t < e; t++)
        for (int64_t q = a->q * t / a->parts; q < a->q * (t + 1) / a->parts; q++)
            for (int64_t j = 0; j < a->dim; j++)
                a->sum[t * a->size + tokitai_load_index(a->c, a->ix, q) * a->dim + j] += tokitai_load(a->c, a->g,
                                                                                                      q * a->dim + j);
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    const int64_t size = vocab * dim, parts = call->threads < 16 ? call->threads : 16;
    args a = {*call, queries, dim, size, parts, grad_output, index, calloc((size_t)(size * parts) + 1, 4)};
    parallel_for((int)parts, parts, work, &a);
    for (int64_t i = 0; i < size; i++) {
        float s = 0;
        for (int64_t t = 0; t < parts; t++) s += a.sum[t * size + i];
        tokitai_store(*call, grad_weight, i, s);
    }
    free(a.sum);
    return 0;
}
