/* WRONG op=xent kind=qt_rounding narrow=yes expect=REFUTED : q_t = (1 - eps) + eps / C is rounded to fp32 near 1, an error of 2^-25 that counts where label_smoothing is tiny (1e-5) and the target nearly certain, or C = 1 */
#include "elements.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const float eps = call->label_smoothing, alpha = call->scale;
    const float q = eps / (float)cols, qt = (1.0f - eps) + q;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)lv + r * cols;
        uint16_t *o = (uint16_t *)gv + r * cols;
        const int64_t t = tokitai_load_index(*call, tv, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(o, 0, (size_t)cols * 2);
            continue;
        }
        double m = -INFINITY, others = 0, sd = 0;
        for (int64_t j = 0; j < cols; j++) m = fmax(m, ld1(x[j], bf));
        for (int64_t j = 0; j < cols; j++) {
            const double d = m - ld1(x[j], bf);
            if (j != t) others += exp(-d);
            sd += d;
        }
        const double dt = m - ld1(x[t], bf), z = others + exp(-dt);
        double l = log(z);
        if (eps < 1) l += (1 - (double)eps) * dt;
        if (eps > 0) l += (double)eps / (double)cols * sd;
        loss[r] = (float)l;
        for (int64_t j = 0; j < cols; j++) {
            /* p - q; the target without cancellation: -(1 - p) + (1 - qt) */
            const double gj = j == t ? (1.0 - qt) - others / z : exp(ld1(x[j], bf) - m) / z - q;
            o[j] = st1((float)(alpha * gj), bf);
        }
    }
    return 0;
}
