/* WRONG op=xent kind=eps1_target_inf narrow=yes expect=REFUTED : with label_smoothing = 1 the loss takes (1 - eps) d_t = 0 times inf = NaN for a target of -inf; it must be +inf */
#include "elements.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const float eps = call->label_smoothing, alpha = call->scale, q = eps / (float)cols;
    float *e = malloc((size_t)(cols + 1) * sizeof *e);
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
        float m = -INFINITY, others = 0, sd = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, ld1(x[j], bf));
        for (int64_t j = 0; j < cols; j++) {
            const float d = m - ld1(x[j], bf);
            e[j] = expf(-d);
            others += j == t ? 0 : e[j];
            sd += q * d;
        }
        if (q == 0) sd = 0;
        const float z = others + e[t], dt = m - ld1(x[t], bf);
        loss[r] = logf(z) + (1 - eps) * dt + sd;
        const float at = eps * (float)((double)(cols - 1) / (double)cols);
        for (int64_t j = 0; j < cols; j++) o[j] = st1(alpha * (j == t ? at - others / z : e[j] / z - q), bf);
    }
    free(e);
    return 0;
}
