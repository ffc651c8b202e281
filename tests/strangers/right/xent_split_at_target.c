/* RIGHT op=xent kind=split_at_target : fp32; sums the classes before and after the target apart, exp as exp2f of one product, writes the gradient from the last class to the first */
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
    const tokitai_call *call;
    const uint16_t *x;
    const void *t;
    float *loss;
    uint16_t *o;
    int64_t cols;
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
static float span(const uint16_t *x, int64_t lo, int64_t hi, float m, int bf, double *sd)
{
    float s = 0;
    for (int64_t j = lo; j < hi; j++) {
        const float d = m - ld1(x[j], bf);
        s += exp2f(-1.44269504f * d);
        *sd += d;
    }
    return s;
}
static void rows_fn(void *p, int64_t lo, int64_t hi)
{
    const args_t *a = p;
    const int bf = a->call->dtype == TOKITAI_BF16;
    const int64_t n = a->cols;
    const float eps = a->call->label_smoothing, alpha = a->call->scale;
    const float q = (float)((double)eps / n), off = (float)((double)eps * (n - 1) / n);
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *x = a->x + r * n;
        uint16_t *o = a->o + r * n;
        const int64_t t = tokitai_load_index(*a->call, a->t, r);
        if (t == a->call->ignore_index) {
            a->loss[r] = 0;
            for (int64_t j = n; j-- > 0;)
                o[j] = 0;
            continue;
        }
        float m = -INFINITY;
        int bad = 0;
        for (int64_t j = n; j-- > 0;) {
            const float v = ld1(x[j], bf);
            bad |= v != v || v == INFINITY;
            m = v > m ? v : m;
        }
        if (bad || m == -INFINITY) {
            a->loss[r] = -NAN;
            for (int64_t j = 0; j < n; j++)
                o[j] = 0xffff;
            continue;
        }
        const float dt = m - ld1(x[t], bf), et = exp2f(-1.44269504f * dt);
        double sd = dt;
        const float others = span(x, 0, t, m, bf, &sd) + span(x, t + 1, n, m, bf, &sd), z = others + et;
        double l = dt == 0 ? log1pf(others) : logf(z);
        if (eps < 1)
            l += (1.0 - eps) * dt;
        if (eps > 0)
            l += (double)eps / n * sd;
        a->loss[r] = (float)l;
        for (int64_t j = n; j-- > 0;) {
            const float g = j == t ? off - others / z : exp2f(-1.44269504f * (m - ld1(x[j], bf))) / z - q;
            o[j] = st1(alpha * g, bf);
        }
    }
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, const void *t, float *loss,
                 void *o)
{
    args_t a = {call, x, t, loss, o, cols};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
