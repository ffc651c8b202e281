/* WRONG op=xent kind=mean_logit_cancel narrow=yes expect=REFUTED : the smoothed part of the loss is eps (max - mean of the logits) with the fp32 sum of the logits themselves, which loses digits for logits far from 0 (label_smoothing > 0 only) */
#include "elements.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const double eps = call->label_smoothing, alpha = call->scale, n = (double)cols;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)lv + r * cols;
        uint16_t *o = (uint16_t *)gv + r * cols;
        const int64_t t = tokitai_load_index(*call, tv, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(o, 0, (size_t)cols * 2);
            continue;
        }
        float m = -INFINITY, sx = 0;
        double others = 0;
        for (int64_t j = 0; j < cols; j++) {
            const float v = ld1(x[j], bf);
            m = fmaxf(m, v);
            sx += v;
        }
        for (int64_t j = 0; j < cols; j++)
            if (j != t) others += exp((double)ld1(x[j], bf) - m);
        const double dt = (double)m - ld1(x[t], bf), z = others + exp(-dt);
        double l = log(z);
        if (eps < 1) l += (1 - eps) * dt;
        if (eps > 0) l += eps * (m - sx / (float)cols);
        loss[r] = (float)l;
        for (int64_t j = 0; j < cols; j++) {
            const double gj = j == t ? eps * (n - 1) / n - others / z : exp((double)ld1(x[j], bf) - m) / z - eps / n;
            o[j] = st1((float)(alpha * gj), bf);
        }
    }
    return 0;
}
