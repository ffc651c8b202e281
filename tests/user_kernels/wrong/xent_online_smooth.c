/* WRONG op=xent kind=online_rescale narrow=no expect=REFUTED : where a later block of 64 columns raises the running maximum, the sum of distances is moved by the length of a block instead of by all columns before; the loss is wrong with label_smoothing > 0 and more than 128 columns */
#include "kernel.h"
enum { BLOCK = 64 };
typedef struct state {
    double max, rest, sum_d;
    int bad;
} state;
static void add_block(const tokitai_call *call, const uint16_t *x, int64_t from, int64_t to, int64_t t, state *s) {
    double max = -INFINITY, rest = 0, sum_d = 0;
    for (int64_t j = from; j < to; j++) {
        const double v = tokitai_load(*call, x, j);
        s->bad |= !(v < INFINITY);
        max = v > max ? v : max;
    }
    if (s->bad) return;
    if (max > s->max) {
        if (s->max > -INFINITY) {
            s->rest *= exp(s->max - max);
            s->sum_d += BLOCK * (max - s->max);
        } else if (from > 0) {
            s->sum_d = INFINITY;
        }
        s->max = max;
    }
    for (int64_t j = from; j < to; j++) {
        const double d = s->max - tokitai_load(*call, x, j);
        if (s->max > -INFINITY) {
            rest += j == t ? 0 : exp(-d);
            sum_d += d;
        }
    }
    s->rest += rest;
    s->sum_d += sum_d;
}
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
        state s = {-INFINITY, 0, 0, 0};
        for (int64_t from = 0; from < cols; from += BLOCK)
            add_block(call, x, from, from + BLOCK < cols ? from + BLOCK : cols, t, &s);
        const int nan = s.bad || s.max == -INFINITY;
        const double dt = s.max - tokitai_load(*call, x, t), z = s.rest + exp(-dt);
        loss[r] = nan ? NAN : (float)(log(z) + (eps > 0 ? off * s.sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
        for (int64_t j = 0; j < cols; j++) {
            const double v = j == t ? eps - off - s.rest / z : exp(tokitai_load(*call, x, j) - s.max) / z - off;
            tokitai_store(*call, g, j, nan ? NAN : (float)(call->scale * v));
        }
    }
    return 0;
}
