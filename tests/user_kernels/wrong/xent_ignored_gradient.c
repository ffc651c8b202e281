/* WRONG op=xent kind=ignore_index_forgotten_for_the_gradient expect=REFUTED : ignore_index forgotten for the gradient, only the loss is zero; ignored rows */
#include "kernel.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const tokitai_call c = *call;
    const float eps = c.label_smoothing;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = tokitai_load_index(c, target, r), b = r * cols;
        const int ignored = t == c.ignore_index;
        float m = -INFINITY, others = 0, sd = 0, et = 0, xt = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, logits, b + j));
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, logits, b + j), e = expf(v - m);
            if (j == t) et = e, xt = v;
            else others += e;
            if (eps > 0) sd += m - v;
        }
        const float z = others + et;
        loss[r] = ignored ? 0 : logf(z) + (eps < 1 ? (1 - eps) * (m - xt) : 0) + (eps > 0 ? eps / cols * sd : 0);
        for (int64_t j = 0; j < cols; j++)
            tokitai_store(c, grad_logits, b + j,
                          c.scale * (j == t ? eps * (float)(cols - 1) / cols - others / z
                                            : expf(tokitai_load(c, logits, b + j) - m) / z - eps / cols));
    }
    return 0;
}
