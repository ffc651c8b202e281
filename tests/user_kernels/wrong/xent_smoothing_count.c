/* WRONG op=xent kind=smoothing_count narrow=no expect=REFUTED : the smoothing mass is shared by the C-1 other classes (eps/(C-1), 1-eps for the target) instead of by all C, wrong whenever label_smoothing > 0 */
#include "kernel.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const double eps = call->label_smoothing, off = cols > 1 ? eps / (double)(cols - 1) : 0,
                 on = 1 - off * (double)(cols - 1);
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *g = (uint16_t *)grad_logits + r * cols;
        const int64_t t = tokitai_load_index(*call, target, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(g, 0, (size_t)cols * 2);
            continue;
        }
        double max = -INFINITY, rest = 0, sum_d = 0, bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const double v = tokitai_load(*call, x, j);
            bad += v != v || v == INFINITY;
            max = v > max ? v : max;
        }
        if (bad > 0 || max == -INFINITY) {
            for (int64_t j = 0; j < cols; j++) tokitai_store(*call, g, j, NAN);
            loss[r] = NAN;
            continue;
        }
        for (int64_t j = 0; j < cols; j++) {
            const double d = max - tokitai_load(*call, x, j);
            if (j != t) {
                rest += exp(-d);
                sum_d += d;
            }
        }
        const double dt = max - tokitai_load(*call, x, t), z = rest + exp(-dt);
        loss[r] = (float)(log(z) + (off > 0 ? off * sum_d : 0) + (on > 0 ? on * dt : 0));
        for (int64_t j = 0; j < cols; j++) {
            const double p = exp(tokitai_load(*call, x, j) - max) / z;
            tokitai_store(*call, g, j, call->scale * (float)(j == t ? eps - rest / z : p - off));
        }
    }
    return 0;
}
