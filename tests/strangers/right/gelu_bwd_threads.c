/* RIGHT op=gelu_bwd kind=threads_over_ranges : threads over ranges, derivative in double */
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
    const void *g, *x;
    void *o;
} args;
static void work(void *p, int64_t b, int64_t e)
{
    const args *a = p;
    for (int64_t i = b; i < e; i++) {
        const double g = tokitai_load(a->c, a->g, i);
        double v = tokitai_load(a->c, a->x, i);
        if (v > 40)
            v = 40;
        if (v < -40)
            v = -40;
        const double t = 1.5957691216057308 * (v + 0.044715 * v * v * v), s = 1 / (1 + exp(-t)), q = 1 / (1 + exp(t));
        tokitai_store(a->c, a->o, i, (float)(g * (s + s * q * 1.5957691216057308 * v * (1 + 0.134145 * v * v))));
    }
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input)
{
    args a = {*call, grad_output, x, grad_input};
    parallel_for(n < 4096 ? 1 : call->threads, n, work, &a);
    return 0;
}
