/* RIGHT op=xent kind=rows_over_threads expect=HELD : rows over threads, sums in double */
#include "threads.h"
typedef struct {
    tokitai_call c;
    int64_t cols;
    const void *x, *t;
    float *loss;
    void *g;
} args;
static void work(void *p, int64_t begin, int64_t end) {
    const args *a = p;
    const tokitai_call c = a->c;
    const int64_t n = a->cols;
    const double eps = c.label_smoothing;
    for (int64_t r = begin; r < end; r++) {
        const int64_t t = tokitai_load_index(c, a->t, r), b = r * n;
        if (t == c.ignore_index) {
            a->loss[r] = 0;
            memset((uint16_t *)a->g + b, 0, (size_t)n * 2);
            continue;
        }
        double m = -INFINITY, rest = 0, sd = 0;
        for (int64_t j = 0; j < n; j++) {
            const double v = tokitai_load(c, a->x, b + j);
            if (!(v <= m)) m = v;
            if (isnan(m)) break;
        }
        for (int64_t j = 0; j < n; j++) {
            const double v = tokitai_load(c, a->x, b + j);
            rest += j == t ? 0 : exp(v - m);
            sd += m - v;
        }
        const double dt = m - tokitai_load(c, a->x, b + t), z = rest + exp(-dt);
        a->loss[r] = (float)(log(z) + (eps < 1 ? (1 - eps) * dt : 0) + (eps > 0 ? eps / n * sd : 0));
        for (int64_t j = 0; j < n; j++) {
            const double e = exp(tokitai_load(c, a->x, b + j) - m);
            tokitai_store(c, a->g, b + j,
                          (float)(c.scale * (j == t ? eps * (n - 1) / n - rest / z : e / z - eps / n)));
        }
    }
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    args a = {*call, cols, logits, target, loss, grad_logits};
    parallel_for(call->threads, rows, work, &a);
    return 0;
}
