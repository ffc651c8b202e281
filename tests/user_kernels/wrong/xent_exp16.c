/* WRONG op=xent kind=low_precision_scratch narrow=no expect=REFUTED : the unnormalised exponentials are kept in the gradient buffer as 16-bit numbers between the passes, so that each gradient is rounded twice */
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
        double max = -INFINITY;
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
        const double dt = max - tokitai_load(*call, x, t);
        double rest = 0, sum_d = 0;
        for (int64_t j = 0; j < cols; j++) { /* each exp once */
            const double d = max - tokitai_load(*call, x, j), e = exp(-d);
            rest += j == t ? 0 : e;
            sum_d += d;
            tokitai_store(*call, g, j, (float)e);
        }
        const double z = rest + exp(-dt), inverse = 1 / z;
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(*call, g, j, (float)(call->scale * (tokitai_load(*call, g, j) * inverse - off)));
        tokitai_store(*call, g, t, (float)(call->scale * (eps - off - rest / z)));
        loss[r] = (float)(log(z) + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
    }
    return 0;
}
