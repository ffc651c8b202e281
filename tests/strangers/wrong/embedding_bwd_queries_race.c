/* WRONG op=embedding_bwd kind=race : race, threads over queries add to one table without a lock; several threads, many hits of few rows, from about 100000 queries on */
#include <stdlib.h>
#include <tokitai_kernel.h>
#include <pthread.h>
typedef void (*range_fn)(void *ctx, int64_t begin, int64_t end);
typedef struct {
    range_fn fn;
    void *ctx;
    int64_t begin, end;
} range_job;
static void *range_main(void *p)
{
    range_job *j = p;
    j->fn(j->ctx, j->begin, j->end);
    return 0;
}
static void parallel_for(int threads, int64_t n, range_fn fn, void *ctx)
{
    if (threads > 16)
        threads = 16;
    pthread_t id[16];
    range_job job[16];
    int up[16] = {0};
    for (int i = 0; i < threads; i++) {
        job[i] = (range_job){fn, ctx, n * i / threads, n * (i + 1) / threads};
        if (i + 1 < threads)
            up[i] = !pthread_create(&id[i], 0, range_main, &job[i]);
        if (!up[i])
            range_main(&job[i]);
    }
    for (int i = 0; i < threads; i++)
        if (up[i])
            pthread_join(id[i], 0);
}
typedef struct {
    tokitai_call c;
    int64_t dim;
    const void *g, *ix;
    float *sum;
} args;
static void work(void *p, int64_t b, int64_t e)
{
    const args *a = p;
    for (int64_t q = b; q < e; q++) {
        float *row = a->sum + tokitai_load_index(a->c, a->ix, q) * a->dim;
        for (int64_t j = 0; j < a->dim; j++)
            row[j] += tokitai_load(a->c, a->g, q * a->dim + j);
    }
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight)
{
    args a = {*call, dim, grad_output, index, calloc((size_t)(vocab * dim) + 1, 4)};
    parallel_for(call->threads, queries, work, &a);
    for (int64_t i = 0; i < vocab * dim; i++)
        tokitai_store(*call, grad_weight, i, a.sum[i]);
    free(a.sum);
    return 0;
}
