/* WRONG op=xent kind=cancellation narrow=yes expect=REFUTED : the gradient of the target is p - q in float, which cancels where the target is the maximum and confident (1 - p below about 1e-4; in f16 it takes a scale well above 1 to show) */
#include "kernel.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const double eps = call->label_smoothing, off = eps / (double)cols;
    const float on = (float)(1 - eps + off);
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *g = (uint16_t *)grad_logits + r * cols;
        const int64_t t = tokitai_load_index(*call, target, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(g, 0, (size_t)cols * 2);
            continue;
        }
        float max = -INFINITY;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(*call, x, j);
            bad |= !(v < INFINITY);
            max = v > max ? v : max;
        }
        if (bad || max == -INFINITY) {
            for (int64_t j = 0; j < cols; j++) tokitai_store(*call, g, j, NAN);
            loss[r] = NAN;
            continue;
        }
        double z = 0, sum_d = 0;
        const double dt = (double)max - tokitai_load(*call, x, t);
        for (int64_t j = 0; j < cols; j++) {
            const double d = (double)max - tokitai_load(*call, x, j);
            z += exp(-d);
            sum_d += d;
        }
        const double inverse = 1 / z;
        loss[r] = (float)(log(z) + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
        for (int64_t j = 0; j < cols; j++) {
            const double e = exp(tokitai_load(*call, x, j) - (double)max);
            if (j == t) tokitai_store(*call, g, j, call->scale * ((float)(e * inverse) - on));
            else tokitai_store(*call, g, j, (float)(call->scale * (e * inverse - off)));
        }
    }
    return 0;
}
