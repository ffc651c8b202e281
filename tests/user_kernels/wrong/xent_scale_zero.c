/* WRONG op=xent kind=attribute_zero_shortcut narrow=yes expect=REFUTED : with scale 0 the gradient is cleared without looking at the logits, though a row with NaN must have a NaN gradient */
#include "kernel.h"
static void gradient(tokitai_call c, const uint16_t *x, uint16_t *grad, int64_t cols, int64_t t, double top,
                     double rest, double z) {
    const double eps = c.label_smoothing, n = (double)cols;
    for (int64_t j = 0; j < cols; j++) {
        const double p = exp(tokitai_load(c, x, j) - top) / z;
        const double diff = j == t ? eps * (n - 1.0) / n - rest / z : p - eps / n;
        tokitai_store(c, grad, j, (float)(c.scale * diff));
    }
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const tokitai_call c = *call;
    const double eps = c.label_smoothing;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *grad = (uint16_t *)grad_logits + r * cols;
        const int64_t t = tokitai_load_index(c, target, r);
        if (t == c.ignore_index) {
            loss[r] = 0.0f;
            memset(grad, 0, (size_t)cols * 2);
            continue;
        }
        double top = -INFINITY, rest = 0.0, far = 0.0, z = 0.0;
        for (int64_t j = 0; j < cols; j++) top = fmax(top, tokitai_load(c, x, j));
        for (int64_t j = 0; j < cols; j++) {
            const double d = top - tokitai_load(c, x, j), e = exp(-d);
            z += e;
            rest += j == t ? 0.0 : e;
            far += d;
        }
        if (z != z) rest = z;
        const double dt = top - tokitai_load(c, x, t);
        loss[r] = (float)(log(z) + (eps < 1 ? (1.0 - eps) * dt : 0.0) + (eps > 0 ? eps / (double)cols * far : 0.0));
        if (c.scale == 0.0f) memset(grad, 0, (size_t)cols * 2);
        else gradient(c, x, grad, cols, t, top, rest, z);
    }
    return 0;
}
