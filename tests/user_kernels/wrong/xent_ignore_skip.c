/* WRONG op=xent kind=ignored_unwritten narrow=no expect=REFUTED : an ignored row gets its zero loss, but the gradient row is skipped and keeps what was in memory */
#include <pthread.h>
#include "kernel.h"
typedef struct slice {
    const tokitai_call *call;
    int64_t first, last, cols;
    const uint16_t *x;
    const void *target;
    float *loss;
    uint16_t *g;
} slice;
static void *work(void *arg) {
    slice *s = arg;
    const tokitai_call c = *s->call;
    const int64_t n = s->cols;
    const double eps = c.label_smoothing, off = eps / (double)n;
    for (int64_t r = s->first; r < s->last; r++) {
        const int64_t t = tokitai_load_index(c, s->target, r);
        if (t == c.ignore_index) {
            s->loss[r] = 0;
            continue; /* nothing flows back */
        }
        const uint16_t *x = s->x + r * n;
        uint16_t *g = s->g + r * n;
        double max = -INFINITY, rest = 0, sum_d = 0;
        int bad = 0;
        for (int64_t j = 0; j < n; j++) {
            const float v = tokitai_load(c, x, j);
            bad |= !(v < INFINITY);
            max = v > max ? v : max;
        }
        bad |= max == -INFINITY;
        for (int64_t j = 0; j < n; j++) {
            const double d = max - tokitai_load(c, x, j);
            rest += j == t ? 0 : exp(-d);
            sum_d += d;
        }
        const double dt = max - tokitai_load(c, x, t), z = rest + exp(-dt);
        double l = log(z);
        l += eps > 0 ? off * sum_d : 0;
        l += eps < 1 ? (1 - eps) * dt : 0;
        s->loss[r] = bad ? NAN : (float)l;
        for (int64_t j = 0; j < n; j++) {
            const double v = j == t ? eps - off - rest / z : exp(tokitai_load(c, x, j) - max) / z - off;
            tokitai_store(c, g, j, bad ? NAN : (float)(c.scale * v));
        }
    }
    return NULL;
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    enum { MOST = 16 };
    const int64_t n = call->threads < MOST ? call->threads : MOST;
    pthread_t id[MOST];
    slice s[MOST];
    int started[MOST] = {0};
    for (int64_t k = 0; k < n; k++) {
        s[k] = (slice){call, rows * k / n, rows * (k + 1) / n, cols, logits, target, loss, grad_logits};
        started[k] = k + 1 < n && pthread_create(&id[k], NULL, work, &s[k]) == 0;
        if (!started[k]) work(&s[k]);
    }
    for (int64_t k = 0; k < n; k++)
        if (started[k]) pthread_join(id[k], NULL);
    return 0;
}
