/* RIGHT op=xent kind=other_mass_sum expect=HELD : all in double, the mass beside the target summed apart so that 1 - p_t keeps its digits; safe in place */
#include "kernel.h"
static void ignored(float *loss, uint16_t *grad, int64_t cols) {
    *loss = 0.0f;
    memset(grad, 0, (size_t)cols * sizeof *grad);
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const tokitai_call c = *call;
    const double eps = c.label_smoothing, alpha = c.scale;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = tokitai_load_index(c, target, r);
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *grad = (uint16_t *)grad_logits + r * cols;
        if (t == c.ignore_index) {
            ignored(&loss[r], grad, cols);
            continue;
        }
        double top = -INFINITY, others = 0.0, far = 0.0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const double v = tokitai_load(c, x, j);
            bad |= !(v < INFINITY);
            top = v > top ? v : top;
        }
        if (bad || top == -INFINITY) {
            loss[r] = NAN;
            for (int64_t j = 0; j < cols; j++) tokitai_store(c, grad, j, NAN);
            continue;
        }
        for (int64_t j = 0; j < cols; j++) {
            const double d = top - tokitai_load(c, x, j);
            far += d;
            if (j != t) others += exp(-d);
        }
        const double dt = top - tokitai_load(c, x, t), own = exp(-dt), z = others + own;
        double value = log(z);
        if (eps < 1.0) value += (1.0 - eps) * dt;
        if (eps > 0.0) value += eps / (double)cols * far;
        loss[r] = (float)value;
        for (int64_t j = 0; j < cols; j++) {
            double diff;
            if (j == t) diff = eps * (double)(cols - 1) / (double)cols - others / z;
            else diff = exp(tokitai_load(c, x, j) - top) / z - eps / (double)cols;
            tokitai_store(c, grad, j, (float)(alpha * diff));
        }
    }
    return 0;
}
