/* WRONG op=xent kind=race narrow=no expect=REFUTED timing=yes : the exponentials of a row are kept in one static buffer that all threads share, so that with threads > 1 rows mix */
#include <pthread.h>
#include "kernel.h"
static double *scratch; /* one row */
static int64_t capacity;
typedef struct range {
    const tokitai_call *call;
    int64_t first, last, cols;
    const uint16_t *logits;
    const void *target;
    float *loss;
    uint16_t *grad;
} range;
static void *rows_of(void *arg) {
    range *w = arg;
    const tokitai_call c = *w->call;
    const int64_t cols = w->cols;
    const double eps = c.label_smoothing, off = eps / (double)cols;
    for (int64_t r = w->first; r < w->last; r++) {
        const int64_t t = tokitai_load_index(c, w->target, r);
        const uint16_t *x = w->logits + r * cols;
        uint16_t *g = w->grad + r * cols;
        if (t == c.ignore_index) {
            w->loss[r] = 0;
            memset(g, 0, (size_t)cols * 2);
            continue;
        }
        double max = -INFINITY, rest = 0, sum_d = 0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const double v = tokitai_load(c, x, j);
            bad |= !(v < INFINITY);
            max = v > max ? v : max;
        }
        bad |= max == -INFINITY;
        for (int64_t j = 0; j < cols; j++) {
            const double d = max - tokitai_load(c, x, j);
            scratch[j] = exp(-d);
            rest += j == t ? 0 : scratch[j];
            sum_d += d;
        }
        const double dt = max - tokitai_load(c, x, t), z = rest + exp(-dt);
        w->loss[r] = bad ? NAN : (float)(log(z) + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, g, j,
                          bad ? NAN : (float)(c.scale * (j == t ? eps - off - rest / z : scratch[j] / z - off)));
    }
    return NULL;
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    enum { MOST = 16 };
    if (cols > capacity) {
        free(scratch);
        scratch = malloc((size_t)cols * sizeof *scratch);
        capacity = scratch ? cols : 0;
        if (scratch == NULL) return 1;
    }
    const int64_t n = call->threads < MOST ? call->threads : MOST;
    pthread_t id[MOST];
    range w[MOST];
    int started[MOST] = {0};
    for (int64_t k = 0; k < n; k++) {
        w[k] = (range){call, rows * k / n, rows * (k + 1) / n, cols, logits, target, loss, grad_logits};
        started[k] = k + 1 < n && pthread_create(&id[k], NULL, rows_of, &w[k]) == 0;
        if (!started[k]) rows_of(&w[k]);
    }
    for (int64_t k = 0; k < n; k++)
        if (started[k]) pthread_join(id[k], NULL);
    return 0;
}
