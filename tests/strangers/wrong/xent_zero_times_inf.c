/* WRONG op=xent kind=smoothing_term_multiplied_by_eps_0 : smoothing term multiplied by eps = 0, not left out: NaN; eps = 0 and a logit of -inf */
#include "kernel.h"

int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits)
{
    const tokitai_call c = *call;
    const float eps = c.label_smoothing;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = tokitai_load_index(c, target, r), b = r * cols;
        if (t == c.ignore_index) {
            loss[r] = 0;
            for (int64_t j = 0; j < cols; j++)
                ((uint16_t *)grad_logits)[b + j] = 0;
            continue;
        }
        float m = -INFINITY, others = 0, sd = 0;
        for (int64_t j = 0; j < cols; j++)
            m = fmaxf(m, tokitai_load(c, logits, b + j));
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, logits, b + j);
            if (j != t)
                others += expf(v - m);
            sd += m - v;
        }
        const float xt = tokitai_load(c, logits, b + t), z = others + expf(xt - m);
        loss[r] = logf(z) + (eps < 1 ? (1 - eps) * (m - xt) : 0) + eps / cols * sd;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, logits, b + j);
            const float d = j == t ? eps * (float)(cols - 1) / cols - others / z : expf(v - m) / z - eps / cols;
            tokitai_store(c, grad_logits, b + j, c.scale * d);
        }
    }
    return 0;
}
