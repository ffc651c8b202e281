/* WRONG op=xent kind=inplace_hazard narrow=yes expect=REFUTED : the target's logit is read for the loss after the gradient row has been written, wrong when grad_logits is the buffer of logits */
#include "kernel.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const tokitai_call c = *call;
    const double eps = c.label_smoothing, n = (double)cols;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = r * cols, t = tokitai_load_index(c, target, r);
        if (t == c.ignore_index) {
            loss[r] = 0.0f;
            for (int64_t j = 0; j < cols; j++) tokitai_store(c, grad_logits, at + j, 0.0f);
            continue;
        }
        double top = -INFINITY, rest = 0.0, far = 0.0, bad = 0.0;
        for (int64_t j = 0; j < cols; j++) top = fmax(top, tokitai_load(c, logits, at + j));
        for (int64_t j = 0; j < cols; j++) {
            const double d = top - tokitai_load(c, logits, at + j);
            rest += j == t ? 0.0 : exp(-d);
            bad += d == d ? 0.0 : d;
            far += eps > 0 ? eps / n * d : 0.0;
        }
        const double z = rest + exp(tokitai_load(c, logits, at + t) - top) + bad;
        for (int64_t j = 0; j < cols; j++) {
            const double p = exp(tokitai_load(c, logits, at + j) - top) / z;
            tokitai_store(c, grad_logits, at + j,
                          (float)(c.scale * (j == t ? eps * (n - 1.0) / n - rest / z : p - eps / n)));
        }
        const double dt = top - tokitai_load(c, logits, at + t);
        loss[r] = (float)(log(z) + (eps < 1 ? (1.0 - eps) * dt : 0.0) + far);
    }
    return 0;
}
