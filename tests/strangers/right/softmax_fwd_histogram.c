/* RIGHT op=softmax_fwd kind=histogram : rows of 4096 and more count how often each 16-bit pattern occurs, sum count * exp over the patterns, and look the results up by pattern; shorter rows use Kahan's sum */
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
typedef struct {
    const uint16_t *x;
    uint16_t *y;
    int64_t cols;
    int bf;
} args_t;
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
static void by_count(const uint16_t *x, uint16_t *y, int64_t n, int bf)
{
    uint32_t *count = calloc(65536, sizeof *count);
    uint16_t *answer = malloc(65536 * sizeof *answer);
    if (!count || !answer)
        abort();
    for (int64_t j = 0; j < n; j++)
        count[x[j]]++;
    float m = -INFINITY;
    int bad = 0;
    for (int p = 0; p < 65536; p++)
        if (count[p]) {
            const float v = ld1((uint16_t)p, bf);
            bad |= v != v || v == INFINITY;
            m = v > m ? v : m;
        }
    bad |= m == -INFINITY;
    double s = 0;
    for (int p = 0; p < 65536 && !bad; p++)
        if (count[p])
            s += count[p] * exp((double)ld1((uint16_t)p, bf) - m);
    for (int p = 0; p < 65536; p++)
        if (count[p])
            answer[p] = st1(bad ? NAN : (float)(exp((double)ld1((uint16_t)p, bf) - m) / s), bf);
    for (int64_t j = 0; j < n; j++)
        y[j] = answer[x[j]];
    free(count);
    free(answer);
}
static void rows_fn(void *p, int64_t lo, int64_t hi)
{
    const args_t *a = p;
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *x = a->x + r * a->cols;
        uint16_t *y = a->y + r * a->cols;
        if (a->cols >= 4096) {
            by_count(x, y, a->cols, a->bf);
            continue;
        }
        float m = -INFINITY, s = 0, c = 0;
        for (int64_t j = 0; j < a->cols; j++)
            m = fmaxf(m, ld1(x[j], a->bf));
        for (int64_t j = 0; j < a->cols; j++) {
            const float e = expf(ld1(x[j], a->bf) - m) - c, t = s + e;
            c = (t - s) - e;
            s = t;
        }
        for (int64_t j = 0; j < a->cols; j++)
            y[j] = st1(expf(ld1(x[j], a->bf) - m) / s, a->bf);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    args_t a = {x, y, cols, call->dtype == TOKITAI_BF16};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
