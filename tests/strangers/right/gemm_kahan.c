/* RIGHT op=gemm kind=compensated_fp32_sums_where_all_is_finit : compensated fp32 sums where all is finite, plain ones where not; threads over rows */
#include <math.h>
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
    int64_t n, k;
    const void *a, *b;
    void *o;
} args;
static void work(void *p, int64_t b, int64_t e)
{
    const args *x = p;
    for (int64_t i = b; i < e; i++)
        for (int64_t j = 0; j < x->n; j++) {
            float s = 0, r = 0, plain = 0;
            for (int64_t t = 0; t < x->k; t++) {
                const float v = tokitai_load(x->c, x->a, i * x->k + t) * tokitai_load(x->c, x->b, t * x->n + j);
                const float y = v - r, u = s + y;
                plain += v;
                r = (u - s) - y;
                s = u;
            }
            tokitai_store(x->c, x->o, i * x->n + j, isfinite(s) ? s : plain);
        }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    args x = {*call, n, k, a, b, c};
    parallel_for(call->threads, m, work, &x);
    return 0;
}
