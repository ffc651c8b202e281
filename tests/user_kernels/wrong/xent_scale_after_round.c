/* WRONG op=xent kind=scale_after_round narrow=no expect=REFUTED : the gradient is stored in 16 bits and scaled by a second pass over the stored values, if scale is not 1: rounds twice, and small fp16 gradients underflow before the loss scale can save them */
#include "elements.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const double eps = call->label_smoothing, n = (double)cols;
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
        loss[r] = (float)(log(z) + (eps < 1 ? (1 - eps) * dt : 0) + (eps > 0 ? eps / n * sd : 0));
        for (int64_t j = 0; j < cols; j++)
            o[j] = st1((float)(j == t ? eps * (n - 1) / n - others / z : exp(ld1(x[j], bf) - m) / z - eps / n), bf);
        if (call->scale != 1.0f)
            for (int64_t j = 0; j < cols; j++) o[j] = st1(call->scale * ld1(o[j], bf), bf);
    }
    return 0;
}
