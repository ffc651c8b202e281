/* WRONG op=xent kind=ties narrow=yes expect=REFUTED : where the target is the maximum, the sum of the others is taken over all classes below the maximum, so that classes that tie with it are left out of the target's gradient */
#include "kernel.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const double eps = call->label_smoothing, off = eps / (double)cols;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *g = (uint16_t *)grad_logits + r * cols;
        const int64_t t = tokitai_load_index(*call, target, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(g, 0, (size_t)cols * 2);
            continue;
        }
        double max = -INFINITY, at_max = 0, below = 0, sum_d = 0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const double v = tokitai_load(*call, x, j);
            bad |= !(v < INFINITY);
            max = v > max ? v : max;
        }
        if (bad || max == -INFINITY) {
            for (int64_t j = 0; j < cols; j++) tokitai_store(*call, g, j, NAN);
            loss[r] = NAN;
            continue;
        }
        for (int64_t j = 0; j < cols; j++) { /* the large terms and the small ones apart, for accuracy */
            const double d = max - tokitai_load(*call, x, j);
            if (d == 0) at_max += 1;
            else below += exp(-d);
            sum_d += d;
        }
        const double dt = max - tokitai_load(*call, x, t), z = at_max + below;
        double rest = below;
        if (dt > 0) {
            rest = at_max;
            for (int64_t j = 0; j < cols; j++) {
                const double d = max - tokitai_load(*call, x, j);
                rest += j == t || d == 0 ? 0 : exp(-d);
            }
        }
        loss[r] = (float)(log(z) + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
        for (int64_t j = 0; j < cols; j++) {
            const double p = exp(tokitai_load(*call, x, j) - max) / z;
            tokitai_store(*call, g, j, (float)(call->scale * (j == t ? eps - off - rest / z : p - off)));
        }
    }
    return 0;
}
