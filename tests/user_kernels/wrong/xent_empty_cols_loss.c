/* WRONG op=xent kind=empty_cols_loss narrow=yes expect=REFUTED : returns at once if rows * cols is 0: with cols == 0 and rows > 0, all of them ignored, the losses are not written */
#include "elements.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    if (rows * cols == 0) return 0; /* nothing to do */
    const int bf = call->dtype == TOKITAI_BF16;
    const double eps = call->label_smoothing, alpha = call->scale, n = (double)cols;
    double *e = malloc((size_t)cols * sizeof *e);
    if (!e) return 1;
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
        for (int64_t j = 0; j < cols; j++) m = fmax(m, e[j] = ld1(x[j], bf));
        const double dt = m - e[t];
        for (int64_t j = 0; j < cols; j++) {
            sd += m - e[j];
            e[j] = exp(e[j] - m);
            if (j != t) others += e[j];
        }
        const double z = others + e[t];
        loss[r] = (float)(log(z) + (eps < 1 ? (1 - eps) * dt : 0) + (eps > 0 ? eps / n * sd : 0));
        for (int64_t j = 0; j < cols; j++)
            o[j] = st1((float)(alpha * (j == t ? eps * (n - 1) / n - others / z : e[j] / z - eps / n)), bf);
    }
    free(e);
    return 0;
}
