/* WRONG op=xent kind=cancellation narrow=yes expect=REFUTED : the target's Q as 1 - (1 - eps + eps/C) in double, which cancels for a tiny label_smoothing */
#include "kernel.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, const void *target, float *loss,
                 void *gx) {
    const double eps = (double)call->label_smoothing, share = eps / (double)cols;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t b = r * cols;
        const int64_t t = tokitai_load_index(*call, target, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            for (int64_t j = b; j < b + cols; j++) tokitai_store(*call, gx, j, 0);
            continue;
        }
        double m = -INFINITY, others = 0, spread = 0;
        for (int64_t j = b; j < b + cols; j++) m = fmax(m, (double)tokitai_load(*call, x, j));
        for (int64_t j = 0; j < cols; j++) {
            const double v = (double)tokitai_load(*call, x, b + j);
            others += j == t ? 0 : exp(v - m);
            spread += m - v;
        }
        const double distance = m - (double)tokitai_load(*call, x, b + t);
        const double sum = others + exp(-distance);
        double total = distance == 0 ? log1p(others) : log(sum);
        if (eps < 1) total += (1 - eps) * distance;
        if (eps > 0) total += share * spread;
        loss[r] = (float)(isnan(sum) ? sum : total);
        for (int64_t j = 0; j < cols; j++) {
            const double p = exp((double)tokitai_load(*call, x, b + j) - m) / sum;
            const double d = j == t ? (1 - (1 - eps + share)) - others / sum : p - share;
            tokitai_store(*call, gx, b + j, (float)((double)call->scale * d));
        }
    }
    return 0;
}
