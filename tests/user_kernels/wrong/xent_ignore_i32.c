/* WRONG op=xent kind=index_truncation narrow=yes expect=REFUTED : targets are staged as 32-bit numbers and compared with the low 32 bits of ignore_index, so that with an ignore_index beyond 32 bits the class of the same low bits is ignored too */
#include "kernel.h"
enum { BLOCK = 256 };
static void stage(const tokitai_call *call, const void *target, int64_t from, int n, int32_t *to) {
    if (call->index_dtype == TOKITAI_I32) {
        memcpy(to, (const int32_t *)target + from, (size_t)n * sizeof *to);
        return;
    }
    for (int k = 0; k < n; k++) to[k] = (int32_t)((const int64_t *)target)[from + k];
}
static void row(const tokitai_call *call, int64_t cols, const uint16_t *x, int32_t t, float *loss, uint16_t *g) {
    const double eps = call->label_smoothing, off = eps / (double)cols;
    double max = -INFINITY, rest = 0, sum_d = 0;
    int bad = 0;
    for (int64_t j = 0; j < cols; j++) {
        const float v = tokitai_load(*call, x, j);
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
    const int fits = call->index_dtype == TOKITAI_I64 || call->ignore_index == (int32_t)call->ignore_index;
    const int32_t ignore = (int32_t)call->ignore_index;
    int32_t t[BLOCK];
    for (int64_t from = 0; from < rows; from += BLOCK) {
        const int n = rows - from < BLOCK ? (int)(rows - from) : BLOCK;
        stage(call, target, from, n, t);
        for (int k = 0; k < n; k++) {
            const int64_t r = from + k;
            uint16_t *g = (uint16_t *)grad_logits + r * cols;
            if (fits && t[k] == ignore) {
                loss[r] = 0;
                memset(g, 0, (size_t)cols * 2);
            } else {
                row(call, cols, (const uint16_t *)logits + r * cols, t[k], loss + r, g);
            }
        }
    }
    return 0;
}
