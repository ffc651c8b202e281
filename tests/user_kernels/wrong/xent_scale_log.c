/* WRONG op=xent kind=scale_in_exponent narrow=yes expect=REFUTED : log(scale) and -log Z are folded into the exponent so that scale * p needs no multiplication; a negative scale gives NaN */
#include "kernel.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const double eps = call->label_smoothing, alpha = call->scale, off = eps / (double)cols;
    const double log_alpha = log(alpha), alpha_off = alpha * off;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *g = (uint16_t *)grad_logits + r * cols;
        const int64_t t = tokitai_load_index(*call, target, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(g, 0, (size_t)cols * 2);
            continue;
        }
        double max = -INFINITY, rest = 0, sum_d = 0;
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
        for (int64_t j = 0; j < cols; j++) {
            const double d = max - tokitai_load(*call, x, j);
            rest += j == t ? 0 : exp(-d);
            sum_d += d;
        }
        const double dt = max - tokitai_load(*call, x, t), z = rest + exp(-dt), log_z = log(z);
        loss[r] = (float)(log_z + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
        for (int64_t j = 0; j < cols; j++) {
            const double d = max - tokitai_load(*call, x, j);
            if (j == t) tokitai_store(*call, g, j, (float)(alpha * (eps - off - rest / z)));
            else tokitai_store(*call, g, j, (float)(exp(log_alpha - log_z - d) - alpha_off));
        }
    }
    return 0;
}
