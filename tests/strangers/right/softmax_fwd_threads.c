/* RIGHT op=softmax_fwd kind=rows_over_threads : rows over threads, eight partial sums */
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
    int64_t cols;
    const void *x;
    void *y;
} args;
static void work(void *p, int64_t b, int64_t e)
{
    const args *a = p;
    for (int64_t r = b; r < e; r++) {
        float m = -INFINITY, s[8] = {0};
        for (int64_t j = 0; j < a->cols; j++)
            m = fmaxf(m, tokitai_load(a->c, a->x, r * a->cols + j));
        for (int64_t j = 0; j < a->cols; j++)
            s[j & 7] += expf(tokitai_load(a->c, a->x, r * a->cols + j) - m);
        const float inv = 1 / (((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
        for (int64_t j = 0; j < a->cols; j++)
            tokitai_store(a->c, a->y, r * a->cols + j, expf(tokitai_load(a->c, a->x, r * a->cols + j) - m) * inv);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    args a = {*call, cols, x, y};
    parallel_for(call->threads, rows, work, &a);
    return 0;
}
