/* WRONG op=xent kind=ties_of_maximum narrow=yes expect=REFUTED : the maximum counts once as 1 and every logit equal to it is left out of the sum, so that a tie for the maximum is lost */
#include "kernel.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const tokitai_call c = *call;
    const double eps = c.label_smoothing, n = (double)cols;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = r * cols, t = tokitai_load_index(c, target, r);
        const int keep = t != c.ignore_index;
        double top = -INFINITY, below = 0.0, far = 0.0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const double v = tokitai_load(c, logits, at + j);
            bad |= !(v < INFINITY);
            top = v > top ? v : top;
        }
        bad |= top == -INFINITY;
        for (int64_t j = 0; j < cols; j++) {
            const double v = tokitai_load(c, logits, at + j);
            if (v != top) below += exp(v - top);
            far += top - v;
        }
        const double z = bad ? NAN : 1.0 + below;
        const double dt = keep ? top - tokitai_load(c, logits, at + t) : 0.0;
        const double rest = dt == 0.0 ? below : z - exp(-dt);
        const double value = log1p(z - 1.0) + (eps < 1 ? (1.0 - eps) * dt : 0.0) + (eps > 0 ? eps / n * far : 0.0);
        loss[r] = keep ? (float)value : 0.0f;
        for (int64_t j = 0; j < cols; j++) {
            const double p = exp(tokitai_load(c, logits, at + j) - top) / z;
            const double diff = j == t ? eps * (n - 1.0) / n - rest / z : p - eps / n;
            tokitai_store(c, grad_logits, at + j, keep ? (float)(c.scale * diff) : 0.0f);
        }
    }
    return 0;
}
