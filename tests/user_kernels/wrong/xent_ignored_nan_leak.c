/* WRONG op=xent kind=ignored_nan_leak narrow=yes expect=REFUTED : ignored rows are computed like the others and multiplied by 0 (plus 0, so that zeros are positive): NaN or infinite logits of an ignored row give NaN */
#include "elements.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const double eps = call->label_smoothing;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)lv + r * cols;
        uint16_t *o = (uint16_t *)gv + r * cols;
        int64_t t = tokitai_load_index(*call, tv, r);
        const double keep = t == call->ignore_index ? 0.0 : 1.0, alpha = keep * call->scale;
        if (cols == 0) {
            loss[r] = 0;
            continue;
        }
        if (keep == 0) t = 0; /* any class will do */
        double m = -INFINITY, z = 0, others = 0, sd = 0;
        for (int64_t j = 0; j < cols; j++) m = fmax(m, ld1(x[j], bf));
        const double dt = m - ld1(x[t], bf);
        for (int64_t j = 0; j < cols; j++) {
            const double d = m - ld1(x[j], bf), e = exp(-d);
            z += e;
            others += j == t ? 0 : e;
            if (eps > 0) sd += d;
        }
        double l = log(z);
        if (eps < 1) l += (1 - eps) * dt;
        if (eps > 0) l += eps / (double)cols * sd;
        if (keep == 0 && l == INFINITY) l = 0; /* a masked class */
        loss[r] = (float)(keep * l + 0.0);
        for (int64_t j = 0; j < cols; j++) {
            const double gj = j == t ? eps * (double)(cols - 1) / (double)cols - others / z
                                     : exp(ld1(x[j], bf) - m) / z - eps / (double)cols;
            o[j] = z != z ? st1(NAN, bf) : st1((float)(alpha * gj + (keep == 0 ? 0.0 : -0.0)), bf);
        }
    }
    return 0;
}
