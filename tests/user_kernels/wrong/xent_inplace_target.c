/* WRONG op=xent kind=inplace_alias narrow=yes expect=REFUTED : the logit of the target is read again for the loss after the gradient row was written, wrong only where grad_logits is the buffer of logits */
#include "kernel.h"
typedef struct stats {
    double max, rest, z, sum_d;
} stats;
static int reduce(const tokitai_call *call, int64_t cols, const uint16_t *x, int64_t t, stats *s) {
    *s = (stats){-INFINITY, 0, 0, 0};
    for (int64_t j = 0; j < cols; j++) {
        const double v = tokitai_load(*call, x, j);
        if (!(v < INFINITY)) return 0;
        s->max = v > s->max ? v : s->max;
    }
    if (s->max == -INFINITY) return 0;
    for (int64_t j = 0; j < cols; j++) {
        const double d = s->max - tokitai_load(*call, x, j), e = exp(-d);
        s->sum_d += d;
        if (j == t) s->z = e;
        else s->rest += e;
    }
    s->z += s->rest;
    return 1;
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const double eps = call->label_smoothing, off = eps / (double)cols;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *g = (uint16_t *)grad_logits + r * cols;
        const int64_t t = tokitai_load_index(*call, target, r);
        stats s;
        if (t == call->ignore_index) {
            memset(g, 0, (size_t)cols * 2);
            loss[r] = 0;
            continue;
        }
        if (!reduce(call, cols, x, t, &s)) {
            for (int64_t j = 0; j < cols; j++) tokitai_store(*call, g, j, NAN);
            loss[r] = NAN;
            continue;
        }
        for (int64_t j = 0; j < cols; j++) {
            const double p = exp(tokitai_load(*call, x, j) - s.max) / s.z;
            tokitai_store(*call, g, j, (float)(call->scale * (j == t ? eps - off - s.rest / s.z : p - off)));
        }
        double l = log(s.z);
        if (eps > 0) l += off * s.sum_d;
        if (eps < 1) l += (1 - eps) * (s.max - tokitai_load(*call, x, t));
        loss[r] = (float)l;
    }
    return 0;
}
