/* WRONG op=xent kind=nan_lost narrow=no expect=REFUTED : distances are clamped by a minimum that returns its second operand for a NaN, and the maximum skips NaN, so that a NaN logit counts as p = 0 instead of making the row NaN */
#include "kernel.h"
static inline double min_like_sse(double a, double b) { return a < b ? a : b; }
static inline double max_like_sse(double a, double b) { return a > b ? a : b; }
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const double eps = call->label_smoothing, off = eps / (double)cols;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *g = (uint16_t *)grad_logits + r * cols;
        const int64_t t = tokitai_load_index(*call, target, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(g, 0, (size_t)cols * 2);
            continue;
        }
        double m0 = -INFINITY, m1 = -INFINITY, rest = 0, sum_d = 0;
        int64_t j = 0;
        for (; j + 2 <= cols; j += 2) {
            m0 = max_like_sse(tokitai_load(*call, x, j), m0);
            m1 = max_like_sse(tokitai_load(*call, x, j + 1), m1);
        }
        if (j < cols) m0 = max_like_sse(tokitai_load(*call, x, j), m0);
        const double max = max_like_sse(m0, m1);
        if (isinf(max)) {
            for (j = 0; j < cols; j++) tokitai_store(*call, g, j, NAN);
            loss[r] = NAN;
            continue;
        }
        for (j = 0; j < cols; j++) {
            const double d = max - tokitai_load(*call, x, j);
            rest += j == t ? 0 : exp(-min_like_sse(d, 700));
            sum_d += min_like_sse(d, INFINITY);
        }
        const double dt = max - tokitai_load(*call, x, t), z = rest + exp(-min_like_sse(dt, 700));
        loss[r] = (float)(log(z) + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
        for (j = 0; j < cols; j++) {
            const double e = exp(-min_like_sse(max - tokitai_load(*call, x, j), 700));
            tokitai_store(*call, g, j, (float)(call->scale * (j == t ? eps - off - rest / z : e / z - off)));
        }
    }
    return 0;
}
