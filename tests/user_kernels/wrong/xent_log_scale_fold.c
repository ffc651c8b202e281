/* WRONG op=xent kind=log_scale_fold narrow=yes expect=REFUTED : scale is folded into the exponent, p alpha = exp(x - max - ln Z + ln alpha), for scales other than 1: NaN for a negative scale */
#include "elements.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const double eps = call->label_smoothing, alpha = call->scale, n = (double)cols;
    const double fold = alpha == 1 ? 0 : log(alpha);
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
        const double dt = m - ld1(x[t], bf), z = others + exp(-dt), lz = log(z);
        double l = lz;
        if (eps < 1) l += (1 - eps) * dt;
        if (eps > 0) l += eps / n * sd;
        loss[r] = (float)l;
        const double shift = fold - lz - m, aq = alpha * eps / n;
        for (int64_t j = 0; j < cols; j++)
            o[j] = st1((float)(j == t ? alpha * (eps * (n - 1) / n - others / z) : exp(ld1(x[j], bf) + shift) - aq),
                       bf);
    }
    return 0;
}
