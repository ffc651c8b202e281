/* RIGHT op=xent kind=float_exp_row_cache expect=HELD : expf weights of a row kept in a heap buffer of its own size, fp32 sequential sums, loss in double */
#include "kernel.h"
static int unusable(tokitai_call c, const uint16_t *x, int64_t cols, float *top) {
    float high = -INFINITY;
    for (int64_t j = 0; j < cols; j++) {
        const float v = tokitai_load(c, x, j);
        if (v != v || v == INFINITY) return 1;
        high = fmaxf(high, v);
    }
    *top = high;
    return high == -INFINITY;
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const tokitai_call c = *call;
    const double share = cols > 0 ? (double)c.label_smoothing / (double)cols : 0.0;
    float *w = malloc((size_t)(cols > 0 ? cols : 1) * sizeof *w);
    if (!w) return 1;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        const int64_t t = tokitai_load_index(c, target, r), at = r * cols;
        float top = 0.0f;
        const int skip = t == c.ignore_index;
        if (skip || unusable(c, x, cols, &top)) {
            loss[r] = skip ? 0.0f : NAN;
            for (int64_t j = 0; j < cols; j++) tokitai_store(c, grad_logits, at + j, skip ? 0.0f : NAN);
            continue;
        }
        const double dt = (double)top - tokitai_load(c, x, t);
        double smooth = 0.0;
        float rest = 0.0f;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, x, j);
            w[j] = expf(v - top);
            if (j != t) rest += w[j];
            if (share > 0.0) smooth += (double)top - v;
        }
        const double z = (double)rest + w[t];
        loss[r] = (float)(log(z) + (c.label_smoothing < 1.0f ? (1.0 - (double)c.label_smoothing) * dt : 0.0) +
                          share * smooth);
        for (int64_t j = 0; j < cols; j++) {
            const double off = j == t ? share * (double)(cols - 1) - rest / z : w[j] / z - share;
            tokitai_store(c, grad_logits, at + j, (float)((double)c.scale * off));
        }
    }
    free(w);
    return 0;
}
