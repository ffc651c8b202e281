/* RIGHT op=xent kind=column_chunks expect=HELD : columns in chunks of 512 with a maximum and sums each, merged in chunk order; threads take rows one by one from a counter */
#include <pthread.h>
#include <stdatomic.h>
#include "kernel.h"
enum { CHUNK = 512 };
typedef struct work {
    const tokitai_call *call;
    int64_t rows, cols;
    const uint16_t *logits;
    const void *target;
    float *loss;
    uint16_t *grad;
    atomic_llong next;
} work;
typedef struct part {
    double max, others; /* others: relative to max, without the target */
    int bad;
} part;
static part chunk(const tokitai_call *call, const uint16_t *x, int64_t from, int64_t to, int64_t t) {
    part p = {-INFINITY, 0, 0};
    for (int64_t j = from; j < to; j++) {
        const double v = tokitai_load(*call, x, j);
        p.bad |= isnan(v) || v == INFINITY;
        p.max = v > p.max ? v : p.max;
    }
    if (p.bad || p.max == -INFINITY) return p;
    for (int64_t j = from; j < to; j++)
        if (j != t) p.others += exp(tokitai_load(*call, x, j) - p.max);
    return p;
}
static void one_row(work *w, int64_t r) {
    const tokitai_call *call = w->call;
    const int64_t cols = w->cols, t = tokitai_load_index(*call, w->target, r);
    const uint16_t *x = w->logits + r * cols;
    uint16_t *g = w->grad + r * cols;
    if (t == call->ignore_index) {
        w->loss[r] = 0;
        for (int64_t j = 0; j < cols; j++) g[j] = 0;
        return;
    }
    part all = {-INFINITY, 0, 0};
    for (int64_t from = 0; from < cols; from += CHUNK) {
        const part p = chunk(call, x, from, from + CHUNK < cols ? from + CHUNK : cols, t);
        all.bad |= p.bad;
        if (p.bad || p.max == -INFINITY) continue;
        const double max = p.max > all.max ? p.max : all.max;
        all.others = (all.max == -INFINITY ? 0 : all.others * exp(all.max - max)) + p.others * exp(p.max - max);
        all.max = max;
    }
    const int nan = all.bad || all.max == -INFINITY;
    const double eps = call->label_smoothing, alpha = call->scale, off = eps / (double)cols;
    const double dt = all.max - tokitai_load(*call, x, t), z = all.others + exp(-dt);
    double sum_d = 0;
    for (int64_t j = 0; j < cols; j++) {
        const double d = all.max - tokitai_load(*call, x, j);
        sum_d += d;
        const double v = j == t ? eps - off - all.others / z : exp(-d) / z - off;
        tokitai_store(*call, g, j, nan ? NAN : (float)(alpha * v));
    }
    w->loss[r] = nan ? NAN : (float)(log(z) + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
}
static void *rows_of(void *arg) {
    work *w = arg;
    for (int64_t r; (r = atomic_fetch_add(&w->next, 1)) < w->rows;) one_row(w, r);
    return NULL;
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    enum { MOST = 16 };
    work w = {call, rows, cols, logits, target, loss, grad_logits, 0};
    pthread_t id[MOST];
    int n = 0;
    while (n < MOST && n + 1 < call->threads && n + 1 < rows && pthread_create(&id[n], NULL, rows_of, &w) == 0) n++;
    rows_of(&w);
    while (n > 0) pthread_join(id[--n], NULL);
    return 0;
}
