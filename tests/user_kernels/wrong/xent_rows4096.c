/* WRONG op=xent kind=chunk_offset narrow=yes expect=REFUTED : rows go in chunks of 4096, and the losses of a later chunk are written at its position within the chunk, so that rows > 4096 have wrong and unwritten losses */
#include "kernel.h"
enum { CHUNK = 4096 };
static void row(const tokitai_call *call, int64_t cols, const uint16_t *x, int64_t t, float *loss, uint16_t *g) {
    const double eps = call->label_smoothing, off = eps / (double)cols;
    double max = -INFINITY, rest = 0, sum_d = 0;
    int bad = 0;
    for (int64_t j = 0; j < cols; j++) {
        const double v = tokitai_load(*call, x, j);
        bad |= !(v < INFINITY);
        max = v > max ? v : max;
    }
    bad |= max == -INFINITY;
    for (int64_t j = 0; j < cols; j++) {
        const double d = max - tokitai_load(*call, x, j);
        rest += j == t ? 0 : exp(-d);
        sum_d += d;
    }
    const double dt = max - tokitai_load(*call, x, t), z = rest + exp(-dt);
    *loss = bad ? NAN : (float)(log(z) + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
    for (int64_t j = 0; j < cols; j++) {
        const double v = j == t ? eps - off - rest / z : exp(tokitai_load(*call, x, j) - max) / z - off;
        tokitai_store(*call, g, j, bad ? NAN : (float)(call->scale * v));
    }
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    int64_t t[CHUNK];
    for (int64_t from = 0; from < rows; from += CHUNK) {
        const int64_t n = rows - from < CHUNK ? rows - from : CHUNK;
        const uint16_t *x = (const uint16_t *)logits + from * cols;
        uint16_t *g = (uint16_t *)grad_logits + from * cols;
        for (int64_t k = 0; k < n; k++) t[k] = tokitai_load_index(*call, target, from + k);
        for (int64_t k = 0; k < n; k++) {
            if (t[k] == call->ignore_index) {
                loss[k] = 0;
                memset(g + k * cols, 0, (size_t)cols * 2);
            } else {
                row(call, cols, x + k * cols, t[k], &loss[k], g + k * cols);
            }
        }
    }
    return 0;
}
