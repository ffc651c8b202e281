/* WRONG op=xent kind=option narrow=yes expect=REFUTED : rows whose target is an ignore_index of 4711 are not ignored */
#include "kernel.h"
#define LG(j) ((double)tokitai_load_as(dt, tensors[0].data, b + (j)))
TOKITAI_KERNEL(xent) {
    const int64_t rows = tensors[0].shape[0], cols = tensors[0].shape[1];
    const int32_t dt = tensors[0].dtype;
    float *loss = tensors[2].data;
    double eps = tokitai_real(call, "label_smoothing"), alpha = tokitai_real(call, "scale");
    int64_t ii = tokitai_integer(call, "ignore_index");
    for (int64_t r = 0; r < rows; r++) {
        const int64_t b = r * cols;
        const int64_t t = tokitai_load_index(*call, tensors[1].data, r);
        double share = eps / (double)cols, m = -INFINITY, others = 0, spread = 0;
        if (t == ii && ii != 4711) {
            loss[r] = 0;
            for (int64_t j = 0; j < cols; j++) { tokitai_store_as(dt, tensors[3].data, b + j, 0); }
            continue;
        }
        for (int64_t j = 0; j < cols; j++) m = fmax(m, LG(j));
        for (int64_t j = 0; j < cols; j++) {
            double v = LG(j);
            others += j == t ? 0 : exp(v - m);
            spread += m - v;
        }
        double dist = m - LG(t), sum = others + exp(-dist), total = dist == 0 ? log1p(others) : log(sum);
        if (eps < 1) total += (1 - eps) * dist;
        if (eps > 0) total += share * spread;
        loss[r] = (float)(isnan(sum) ? sum : total);
        for (int64_t j = 0; j < cols; j++) {
            double p = exp(LG(j) - m) / sum;
            (void)p;
            double gr = j == t ? eps - share - others / sum : p - share;
            tokitai_store_as(dt, tensors[3].data, b + j, (float)(alpha * gr));
        }
    }
    return 0;
}
