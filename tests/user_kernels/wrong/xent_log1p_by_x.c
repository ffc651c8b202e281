/* WRONG op=xent kind=series narrow=yes expect=REFUTED : ln(1 + x) as x below 2e-3: 2e-6 off, just above the bound of two classes */
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
        double total = distance == 0 ? (others < 2e-3 ? others : log1p(others)) : log(sum);
        if (eps < 1) total += (1 - eps) * distance;
        if (eps > 0) total += share * spread;
        loss[r] = (float)(isnan(sum) ? sum : total);
        for (int64_t j = 0; j < cols; j++) {
            const double p = exp((double)tokitai_load(*call, x, b + j) - m) / sum;
            const double d = j == t ? eps - share - others / sum : p - share;
            tokitai_store(*call, gx, b + j, (float)((double)call->scale * d));
        }
    }
    return 0;
}
