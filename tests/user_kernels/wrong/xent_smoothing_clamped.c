/* WRONG op=xent kind=attribute_clamped narrow=yes expect=REFUTED : label_smoothing is limited to 0.9 before use, wrong only for values above that */
#include "kernel.h"
typedef struct {
    double top, rest, z, far;
} stats;
static stats measure(tokitai_call c, const uint16_t *x, int64_t cols, int64_t t) {
    stats s = {-INFINITY, 0.0, 0.0, 0.0};
    for (int64_t j = 0; j < cols; j++) s.top = fmax(s.top, tokitai_load(c, x, j));
    for (int64_t j = 0; j < cols; j++) {
        const double d = s.top - tokitai_load(c, x, j);
        s.z += exp(-d);
        if (j != t) s.rest += exp(-d);
        s.far += d;
    }
    if (s.z != s.z) s.rest = s.z;
    return s;
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const tokitai_call c = *call;
    const double eps = fminf(fmaxf(c.label_smoothing, 0.0f), 0.9f), n = (double)cols;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *grad = (uint16_t *)grad_logits + r * cols;
        const int64_t t = tokitai_load_index(c, target, r);
        const int keep = t != c.ignore_index;
        const stats s = keep ? measure(c, x, cols, t) : (stats){0.0, 0.0, 1.0, 0.0};
        loss[r] = 0.0f;
        if (keep)
            loss[r] = (float)(log(s.z) + (1.0 - eps) * (s.top - tokitai_load(c, x, t)) +
                              (eps > 0 ? eps / n * s.far : 0.0));
        for (int64_t j = 0; j < cols; j++) {
            const double p = exp(tokitai_load(c, x, j) - s.top) / s.z;
            const double diff = j == t ? eps * (n - 1.0) / n - s.rest / s.z : p - eps / n;
            tokitai_store(c, grad, j, keep ? (float)(c.scale * diff) : 0.0f);
        }
    }
    return 0;
}
