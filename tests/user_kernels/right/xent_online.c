/* RIGHT op=xent kind=online expect=HELD : one-pass running maximum and sum over the classes other than the target in double, rows split over threads */
#include <pthread.h>
#include "kernel.h"
typedef struct job {
    const tokitai_call *call;
    int64_t first, last, cols;
    const uint16_t *logits;
    const void *target;
    float *loss;
    uint16_t *grad;
} job;
static void one_row(const tokitai_call *call, int64_t cols, const uint16_t *x, int64_t t, float *loss, uint16_t *g) {
    const double xt = tokitai_load(*call, x, t), eps = call->label_smoothing, alpha = call->scale;
    double m = -INFINITY, s = 0; /* of all classes but t */
    int bad = isnan(xt) || xt == INFINITY;
    for (int64_t j = 0; j < cols; j++) {
        if (j == t) continue;
        const double v = tokitai_load(*call, x, j);
        if (isnan(v) || v == INFINITY) {
            bad = 1;
        } else if (v > m) {
            s = s * exp(m - v) + 1;
            m = v;
        } else if (v > -INFINITY) {
            s += exp(v - m);
        }
    }
    const double max = xt > m ? xt : m;
    if (bad || max == -INFINITY) {
        for (int64_t j = 0; j < cols; j++) tokitai_store(*call, g, j, NAN);
        *loss = NAN;
        return;
    }
    const double others = s > 0 ? s * exp(m - max) : 0, z = others + exp(xt - max), off = eps / (double)cols;
    double sum_d = 0;
    for (int64_t j = 0; j < cols; j++) {
        const double d = max - tokitai_load(*call, x, j);
        sum_d += d;
        const double v = j == t ? eps * (double)(cols - 1) / (double)cols - others / z : exp(-d) / z - off;
        tokitai_store(*call, g, j, (float)(alpha * v));
    }
    double l = log(z);
    if (eps > 0) l += off * sum_d;
    if (eps < 1) l += (1 - eps) * (max - xt);
    *loss = (float)l;
}
static void *rows_of(void *arg) {
    job *w = arg;
    for (int64_t r = w->first; r < w->last; r++) {
        const int64_t t = tokitai_load_index(*w->call, w->target, r);
        uint16_t *g = w->grad + r * w->cols;
        if (t == w->call->ignore_index) {
            w->loss[r] = 0;
            for (int64_t j = 0; j < w->cols; j++) g[j] = 0;
            continue;
        }
        one_row(w->call, w->cols, w->logits + r * w->cols, t, w->loss + r, g);
    }
    return NULL;
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    enum { MOST = 32 };
    int64_t n = call->threads < MOST ? call->threads : MOST;
    if (n > rows) n = rows;
    pthread_t id[MOST];
    job w[MOST];
    int started[MOST];
    for (int64_t k = 0; k < n; k++) {
        w[k] = (job){call, rows * k / n, rows * (k + 1) / n, cols, logits, target, loss, grad_logits};
        started[k] = k + 1 < n && pthread_create(&id[k], NULL, rows_of, &w[k]) == 0;
        if (!started[k]) rows_of(&w[k]);
    }
    for (int64_t k = 0; k < n; k++)
        if (started[k]) pthread_join(id[k], NULL);
    return 0;
}
