/* WRONG op=xent kind=ignore_only_negative narrow=yes expect=REFUTED : only negative targets are taken as ignored, so that an ignore_index that is a valid class is not */
#include "kernel.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const tokitai_call c = *call;
    const double eps = c.label_smoothing;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *grad = (uint16_t *)grad_logits + r * cols;
        const int64_t t = tokitai_load_index(c, target, r);
        if (t < 0 || t >= cols) { /* padding */
            loss[r] = 0.0f;
            memset(grad, 0, (size_t)cols * 2);
            continue;
        }
        double top = -INFINITY, rest = 0.0, far = 0.0, poison = 0.0;
        for (int64_t j = 0; j < cols; j++) {
            const double v = tokitai_load(c, x, j);
            top = v > top ? v : top;
            poison += v < INFINITY ? 0.0 : NAN;
        }
        poison += top > -INFINITY ? 0.0 : NAN;
        const double dt = top - tokitai_load(c, x, t), own = exp(-dt);
        for (int64_t j = 0; j < cols; j++) {
            const double d = top - tokitai_load(c, x, j);
            rest += j == t ? 0.0 : exp(-d);
            far += eps > 0 ? d * eps / (double)cols : 0.0;
        }
        loss[r] = (float)(log(rest + own) + (eps < 1 ? (1.0 - eps) * dt : 0.0) + far + poison);
        for (int64_t j = 0; j < cols; j++) {
            const double p = exp(tokitai_load(c, x, j) - top) / (rest + own);
            const double diff = j == t ? eps * (double)(cols - 1) / (double)cols - rest / (rest + own)
                                       : p - eps / (double)cols;
            tokitai_store(c, grad, j, (float)(c.scale * (diff + poison)));
        }
    }
    return 0;
}
