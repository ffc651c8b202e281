/* WRONG op=xent kind=clipped_log narrow=no expect=REFUTED : the loss is taken as -log(p + 1e-7) from the probabilities, so that improbable targets get too small a loss, and a -inf target a finite one */
#include "kernel.h"
static const double tiny = 1e-7;
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const double eps = call->label_smoothing, off = eps / (double)cols;
    double *p = malloc(((size_t)cols + 1) * sizeof *p);
    if (p == NULL) return 1;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = tokitai_load_index(*call, target, r), at = r * cols;
        if (t == call->ignore_index) {
            memset((uint16_t *)grad_logits + at, 0, (size_t)cols * 2);
            loss[r] = 0;
            continue;
        }
        double max = -INFINITY, z = 0, l = 0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            p[j] = tokitai_load(*call, logits, at + j);
            bad |= !(p[j] < INFINITY);
            max = fmax(max, p[j]);
        }
        bad |= max == -INFINITY;
        for (int64_t j = 0; j < cols; j++) z += j == t ? 0 : exp(p[j] - max);
        const double rest = z;
        z += exp(p[t] - max);
        for (int64_t j = 0; j < cols; j++) p[j] = exp(p[j] - max) / z;
        if (eps > 0)
            for (int64_t j = 0; j < cols; j++) l -= off * log(p[j] + tiny);
        l -= (1 - eps) * log(p[t] + tiny);
        for (int64_t j = 0; j < cols; j++) {
            const double v = j == t ? eps - off - rest / z : p[j] - off;
            tokitai_store(*call, grad_logits, at + j, bad ? NAN : (float)(call->scale * v));
        }
        loss[r] = bad ? NAN : (float)l;
    }
    free(p);
    return 0;
}
