/* WRONG op=xent kind=batch_shift_ignored narrow=no expect=REFUTED : losses are gathered eight at a time and written behind one another from the first row of the batch; ignored rows inside a batch take no slot there, so that the losses after one move up */
#include "elements.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const double eps = call->label_smoothing, alpha = call->scale, n = (double)cols;
    double pend_z[8], pend_l[8];
    int pending = 0;
    int64_t first = 0;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)lv + r * cols;
        uint16_t *o = (uint16_t *)gv + r * cols;
        const int64_t t = tokitai_load_index(*call, tv, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(o, 0, (size_t)cols * 2);
        } else {
            double m = -INFINITY, others = 0, sd = 0;
            for (int64_t j = 0; j < cols; j++) m = fmax(m, ld1(x[j], bf));
            for (int64_t j = 0; j < cols; j++) {
                const double d = m - ld1(x[j], bf);
                if (j != t) others += exp(-d);
                sd += d;
            }
            const double dt = m - ld1(x[t], bf), z = others + exp(-dt);
            if (pending == 0) first = r;
            pend_z[pending] = z;
            pend_l[pending++] = (eps < 1 ? (1 - eps) * dt : 0) + (eps > 0 ? eps / n * sd : 0);
            for (int64_t j = 0; j < cols; j++)
                o[j] = st1(
                    (float)(alpha * (j == t ? eps * (n - 1) / n - others / z : exp(ld1(x[j], bf) - m) / z - eps / n)),
                    bf);
        }
        if (pending == 8 || (r == rows - 1 && pending)) { /* the logarithms in one go */
            for (int k = 0; k < pending; k++) loss[first + k] = (float)(log(pend_z[k]) + pend_l[k]);
            pending = 0;
        }
    }
    return 0;
}
