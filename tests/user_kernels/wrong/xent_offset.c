/* WRONG op=xent kind=offset_underflow narrow=yes expect=REFUTED : the maximum is subtracted only where it is above 200, since exp cannot overflow below; a row whose logits are all far below zero (about -650 and less) underflows */
#include <pthread.h>
#include "kernel.h"
typedef struct part {
    const tokitai_call *call;
    int64_t begin, end, cols;
    const uint16_t *logits;
    const void *target;
    float *loss;
    uint16_t *grad;
} part;
static void row(const tokitai_call *call, int64_t cols, const uint16_t *x, int64_t t, float *loss, uint16_t *g) {
    const double eps = call->label_smoothing, off = eps / (double)cols;
    double max = -INFINITY, rest = 0, sum_x = 0, sum_d = 0;
    for (int64_t j = 0; j < cols; j++) {
        const double v = tokitai_load(*call, x, j);
        sum_x += v == -INFINITY ? 0 : v;
        max = v > max ? v : max;
    }
    const int bad = !(sum_x < INFINITY) || max == -INFINITY;
    const double shift = max > 200 ? max : 0, xt = tokitai_load(*call, x, t);
    for (int64_t j = 0; j < cols; j++) {
        const double v = tokitai_load(*call, x, j);
        rest += j == t ? 0 : exp(v - shift);
        sum_d += max - v;
    }
    const double z = rest + exp(xt - shift);
    double l = log(z) + (shift - max);
    if (eps > 0) l += off * sum_d;
    if (eps < 1) l += (1 - eps) * (max - xt);
    *loss = bad ? NAN : (float)l;
    for (int64_t j = 0; j < cols; j++) {
        const double v = j == t ? eps - off - rest / z : exp(tokitai_load(*call, x, j) - shift) / z - off;
        tokitai_store(*call, g, j, bad ? NAN : (float)(call->scale * v));
    }
}
static void *work(void *arg) {
    part *p = arg;
    for (int64_t r = p->begin; r < p->end; r++) {
        const int64_t t = tokitai_load_index(*p->call, p->target, r);
        uint16_t *g = p->grad + r * p->cols;
        if (t == p->call->ignore_index) {
            p->loss[r] = 0;
            memset(g, 0, (size_t)p->cols * 2);
        } else {
            row(p->call, p->cols, p->logits + r * p->cols, t, p->loss + r, g);
        }
    }
    return NULL;
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    pthread_t id;
    const int64_t half = call->threads > 1 ? rows / 2 : 0;
    part a = {call, 0, half, cols, logits, target, loss, grad_logits},
         b = {call, half, rows, cols, logits, target, loss, grad_logits};
    const int other = half > 0 && pthread_create(&id, NULL, work, &a) == 0;
    if (!other) work(&a);
    work(&b);
    if (other) pthread_join(id, NULL);
    return 0;
}
