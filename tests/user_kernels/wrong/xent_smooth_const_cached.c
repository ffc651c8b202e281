/* WRONG op=xent kind=smooth_const_cached narrow=yes expect=REFUTED : eps / C and eps (C - 1) / C are kept from the last call and made anew only if C changes: a call with the same cols and another label_smoothing uses the old ones */
#include "elements.h"
static _Thread_local struct {
    int64_t cols;
    double q, off;
} memo = {-1, 0, 0};
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const double eps = call->label_smoothing, alpha = call->scale;
    if (memo.cols != cols) { /* divisions are slow */
        memo.cols = cols;
        memo.q = eps / (double)cols;
        memo.off = eps * (double)(cols - 1) / (double)cols;
    }
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
        if (eps < 1) l += (1 - eps) * dt;
        if (memo.q > 0) l += memo.q * sd;
        loss[r] = (float)l;
        for (int64_t j = 0; j < cols; j++)
            o[j] = st1((float)(alpha * (j == t ? memo.off - others / z : exp(ld1(x[j], bf) - m) / z - memo.q)), bf);
    }
    return 0;
}
