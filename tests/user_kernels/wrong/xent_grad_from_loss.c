/* WRONG op=xent kind=gradient_from_rounded_loss narrow=no expect=REFUTED : probabilities are exp(x - logsumexp) in fp32 and p_t - q_t is formed by subtraction, so that the target's gradient is noise where p_t is near 1 */
#include "kernel.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const tokitai_call c = *call;
    const float eps = c.label_smoothing, share = cols > 0 ? eps / (float)cols : 0.0f;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = r * cols, t = tokitai_load_index(c, target, r);
        if (t == c.ignore_index) {
            loss[r] = 0.0f;
            for (int64_t j = 0; j < cols; j++) tokitai_store(c, grad_logits, at + j, 0.0f);
            continue;
        }
        float top = -INFINITY;
        double z = 0.0, far = 0.0;
        for (int64_t j = 0; j < cols; j++) top = fmaxf(top, tokitai_load(c, logits, at + j));
        for (int64_t j = 0; j < cols; j++) {
            const double d = (double)top - tokitai_load(c, logits, at + j);
            z += exp(-d);
            far += eps > 0.0f ? d : 0.0;
        }
        const float lnz = (float)log(z);
        const double dt = (double)top - tokitai_load(c, logits, at + t);
        loss[r] = (float)(lnz + (eps < 1.0f ? (1.0 - (double)eps) * dt : 0.0) + (double)eps / (double)cols * far);
        for (int64_t j = 0; j < cols; j++) {
            const float p = expf((tokitai_load(c, logits, at + j) - top) - lnz);
            const float q = j == t ? share + (1.0f - eps) : share;
            tokitai_store(c, grad_logits, at + j, c.scale * (p - q));
        }
    }
    return 0;
}
