/* WRONG op=xent kind=thread_cap narrow=yes expect=REFUTED : at most 32 workers are started, but the rows are divided by the number of threads asked for: with threads > 32 and more than 32 rows the last rows are not written */
#include <pthread.h>
#include "elements.h"
enum { MAX_WORKERS = 32 };
typedef struct {
    const tokitai_call *call;
    const uint16_t *x;
    const void *t;
    float *loss;
    uint16_t *o;
    int64_t cols, lo, hi;
    pthread_t tid;
    int live;
} work_t;
static void *work(void *p) {
    const work_t *w = p;
    const int bf = w->call->dtype == TOKITAI_BF16;
    const double eps = w->call->label_smoothing, alpha = w->call->scale, n = (double)w->cols;
    for (int64_t r = w->lo; r < w->hi; r++) {
        const uint16_t *x = w->x + r * w->cols;
        uint16_t *o = w->o + r * w->cols;
        const int64_t t = tokitai_load_index(*w->call, w->t, r);
        if (t == w->call->ignore_index) {
            w->loss[r] = 0;
            memset(o, 0, (size_t)w->cols * 2);
            continue;
        }
        double m = -INFINITY, others = 0, sd = 0;
        for (int64_t j = 0; j < w->cols; j++) m = fmax(m, ld1(x[j], bf));
        for (int64_t j = 0; j < w->cols; j++) {
            const double d = m - ld1(x[j], bf);
            if (j != t) others += exp(-d);
            sd += d;
        }
        const double dt = m - ld1(x[t], bf), z = others + exp(-dt);
        w->loss[r] = (float)(log(z) + (eps < 1 ? (1 - eps) * dt : 0) + (eps > 0 ? eps / n * sd : 0));
        for (int64_t j = 0; j < w->cols; j++)
            o[j] = st1(
                (float)(alpha * (j == t ? eps * (n - 1) / n - others / z : exp(ld1(x[j], bf) - m) / z - eps / n)),
                bf);
    }
    return 0;
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, const void *t, float *loss,
                 void *o) {
    work_t w[MAX_WORKERS];
    const int workers = call->threads < MAX_WORKERS ? call->threads : MAX_WORKERS;
    const int64_t each = (rows + call->threads - 1) / call->threads;
    for (int k = 0; k < workers; k++) {
        const int64_t lo = k * each < rows ? k * each : rows, hi = lo + each < rows ? lo + each : rows;
        w[k] = (work_t){call, x, t, loss, o, cols, lo, hi, 0, 0};
        if (k && hi > lo) w[k].live = pthread_create(&w[k].tid, 0, work, &w[k]) == 0;
        if (k && !w[k].live) work(&w[k]);
    }
    work(&w[0]);
    for (int k = 1; k < workers; k++)
        if (w[k].live) pthread_join(w[k].tid, 0);
    return 0;
}
