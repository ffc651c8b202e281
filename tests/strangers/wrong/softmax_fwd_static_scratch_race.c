/* WRONG op=softmax_fwd kind=static_scratch_race narrow=yes : rows of more than 1024 columns keep their exp values in one static scratch that all threads share: two threads and two such rows spoil each other */
#include <tokitai_kernel.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static inline float ld1(uint16_t p, int bf)
{
    return bf ? tokitai_from_bf16(p) : tokitai_from_f16(p);
}
static inline uint16_t st1(float v, int bf)
{
    return bf ? tokitai_to_bf16(v) : tokitai_to_f16(v);
}
struct args {
    const uint16_t *x;
    uint16_t *y;
    int64_t cols;
    int bf;
};
typedef struct {
    void (*fn)(void *, int64_t, int64_t);
    void *ctx;
    int64_t lo, hi;
} job_t;
static void *job_main(void *p)
{
    job_t *j = p;
    j->fn(j->ctx, j->lo, j->hi);
    return 0;
}
static void par_rows(int nt, int64_t rows, void (*fn)(void *, int64_t, int64_t), void *ctx)
{
    job_t job[64];
    pthread_t tid[64];
    char live[64];
    if (nt > 64)
        nt = 64;
    if (nt > rows)
        nt = (int)rows;
    if (nt <= 1) {
        fn(ctx, 0, rows);
        return;
    }
    int64_t per = rows / nt, extra = rows % nt, at = 0;
    for (int t = 0; t < nt; t++) {
        job[t] = (job_t){fn, ctx, at, at + per + (t < extra)};
        at = job[t].hi;
    }
    for (int t = 1; t < nt; t++)
        live[t] = pthread_create(&tid[t], 0, job_main, &job[t]) == 0;
    job_main(&job[0]);
    for (int t = 1; t < nt; t++) {
        if (live[t])
            pthread_join(tid[t], 0);
        else
            job_main(&job[t]);
    }
}
static float *big;
static int64_t big_cap;
static int reserve(int64_t n)
{
    if (n <= big_cap)
        return 0;
    free(big);
    big = malloc((size_t)n * sizeof *big);
    big_cap = big ? n : 0;
    return big == 0;
}
static void rows_fn(void *p, int64_t lo, int64_t hi)
{
    const struct args *a = p;
    float small[1024], *e = a->cols <= 1024 ? small : big;
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *x = a->x + r * a->cols;
        uint16_t *y = a->y + r * a->cols;
        float m = -INFINITY, s = 0;
        for (int64_t j = 0; j < a->cols; j++)
            m = fmaxf(m, e[j] = ld1(x[j], a->bf));
        for (int64_t j = 0; j < a->cols; j++)
            s += e[j] = expf(e[j] - m);
        for (int64_t j = 0; j < a->cols; j++)
            y[j] = st1(e[j] / s, a->bf);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    struct args a = {x, y, cols, call->dtype == TOKITAI_BF16};
    if (cols > 1024 && reserve(cols))
        return 1;
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
