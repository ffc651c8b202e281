/* WRONG op=xent kind=ignore_trunc32 narrow=yes : ignore_index is kept in 32 bits: INT64_MIN (no row is to be ignored) becomes 0 and rows of class 0 are ignored; any ignore_index beyond 32 bits whose low half is a class */
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
    uint16_t *o;
    const void *t;
    float *loss;
    int64_t cols;
    int bf, i64, ignore;
    float eps, alpha;
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
static void rows_fn(void *p, int64_t lo, int64_t hi)
{
    const struct args *a = p;
    const int bf = a->bf;
    const int64_t n = a->cols;
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *x = a->x + r * n;
        uint16_t *o = a->o + r * n;
        const int t = a->i64 ? (int)((const int64_t *)a->t)[r] : ((const int32_t *)a->t)[r];
        if (t == a->ignore) {
            a->loss[r] = 0;
            memset(o, 0, (size_t)n * 2);
            continue;
        }
        float m = -INFINITY, part = 0;
        int bad = 0;
        for (int64_t j = 0; j < n; j++) {
            const float v = ld1(x[j], bf);
            bad |= v != v || v == INFINITY;
            m = v > m ? v : m;
        }
        if (bad || m == -INFINITY) {
            a->loss[r] = NAN;
            for (int64_t j = 0; j < n; j++)
                o[j] = 0x7fff;
            continue;
        }
        double sd = 0;
        const float dt = m - ld1(x[t], bf), et = expf(-dt);
        for (int64_t j = 0; j < n; j++) {
            const float d = m - ld1(x[j], bf);
            if (j != t)
                part += expf(-d);
            sd += d;
        }
        const float z = part + et, eps = a->eps;
        double l = logf(z);
        if (eps < 1)
            l += (1.0 - eps) * dt;
        if (eps > 0)
            l += (double)eps / n * sd;
        a->loss[r] = (float)l;
        for (int64_t j = 0; j < n; j++) {
            const double g = j == t ? (double)eps * (n - 1) / n - part / z
                                    : expf(ld1(x[j], bf) - m) / z - (double)eps / n;
            o[j] = st1((float)(a->alpha * g), bf);
        }
    }
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, const void *t, float *loss,
                 void *o)
{
    struct args a = {x,
                     o,
                     t,
                     loss,
                     cols,
                     call->dtype == TOKITAI_BF16,
                     call->index_dtype == TOKITAI_I64,
                     (int)call->ignore_index,
                     call->label_smoothing,
                     call->scale};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
