/* WRONG op=xent kind=inf_arith narrow=yes expect=REFUTED : with label_smoothing exactly 1 and a -inf target the term (1 - eps) d is 0 times infinity, and the loss is NaN instead of +inf */
#include "kernel.h"
static double blocked_sum(const tokitai_call *call, const uint16_t *x, int64_t cols, double max) {
    double total = 0;
    for (int64_t from = 0; from < cols; from += 128) {
        const int64_t to = from + 128 < cols ? from + 128 : cols;
        double s = 0;
        for (int64_t j = from; j < to; j++) s += max - tokitai_load(*call, x, j);
        total += s;
    }
    return total;
}
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
        double max = -INFINITY, rest = 0;
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
        for (int64_t j = 0; j < cols; j++) rest += j == t ? 0 : exp(tokitai_load(*call, x, j) - max);
        const double dt = max - tokitai_load(*call, x, t), z = rest + exp(-dt);
        double l = log(z) + (1 - eps) * dt;
        if (eps > 0) /* without smoothing a masked class must not count */
            l += off * blocked_sum(call, x, cols, max);
        loss[r] = (float)l;
        for (int64_t j = 0; j < cols; j++) {
            const double p = exp(tokitai_load(*call, x, j) - max) / z;
            tokitai_store(*call, g, j, (float)(call->scale * (j == t ? eps - off - rest / z : p - off)));
        }
    }
    return 0;
}
