/* WRONG op=xent kind=ignore_negative_only narrow=yes expect=REFUTED : rows are ignored if their target is negative, whatever ignore_index says: wrong for an ignore_index of 0 and above (a padding token) */
#include "elements.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const double eps = call->label_smoothing, alpha = call->scale;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)lv + r * cols;
        uint16_t *o = (uint16_t *)gv + r * cols;
        const int64_t t = tokitai_load_index(*call, tv, r);
        if (t < 0) { /* ignore_index */
            loss[r] = 0;
            memset(o, 0, (size_t)cols * 2);
            continue;
        }
        double m = -INFINITY, z = 0, others = 0, sd = 0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const double v = ld1(x[j], bf);
            bad |= v != v || v == INFINITY;
            m = v > m ? v : m;
        }
        if (m == -INFINITY) bad = 1;
        if (bad) {
            loss[r] = NAN;
            for (int64_t j = 0; j < cols; j++) o[j] = 0x7fff;
            continue;
        }
        const double dt = m - ld1(x[t], bf);
        for (int64_t j = 0; j < cols; j++) {
            const double d = m - ld1(x[j], bf), e = exp(-d);
            z += e;
            if (j != t) others += e;
            sd += d;
        }
        loss[r] = (float)(log(z) + (eps < 1 ? (1 - eps) * dt : 0) + (eps > 0 ? eps / (double)cols * sd : 0));
        for (int64_t j = 0; j < cols; j++) {
            const double gj = j == t ? eps * (double)(cols - 1) / (double)cols - others / z
                                     : exp(ld1(x[j], bf) - m) / z - eps / (double)cols;
            o[j] = st1((float)(alpha * gj), bf);
        }
    }
    return 0;
}
