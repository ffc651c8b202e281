/* WRONG op=softmax_fwd kind=race : race, the threads share a static row buffer; several threads, rows long enough to overlap in time (wrong values) */
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
static float e[65536];
typedef struct {
    tokitai_call c;
    int64_t cols;
    const void *x;
    void *y;
} args;
static void work(void *p, int64_t b, int64_t end)
{
    const args *a = p;
    const int64_t n = a->cols;
    for (int64_t r = b; r < end; r++) {
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < n; j++)
            m = fmaxf(m, tokitai_load(a->c, a->x, r * n + j));
        if (n <= 65536) {
            for (int64_t j = 0; j < n; j++)
                s += e[j] = expf(tokitai_load(a->c, a->x, r * n + j) - m);
            for (int64_t j = 0; j < n; j++)
                tokitai_store(a->c, a->y, r * n + j, e[j] / s);
        } else {
            for (int64_t j = 0; j < n; j++)
                s += expf(tokitai_load(a->c, a->x, r * n + j) - m);
            for (int64_t j = 0; j < n; j++)
                tokitai_store(a->c, a->y, r * n + j, expf(tokitai_load(a->c, a->x, r * n + j) - m) / s);
        }
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    args a = {*call, cols, x, y};
    parallel_for(call->threads, rows, work, &a);
    return 0;
}
