/* WRONG op=xent kind=byte_offset_i32 narrow=yes expect=HELD : the place of a row is row * pitch in bytes as int: from 2^31 bytes of logits on (rows * cols >= 2^30, such as 8193 x 131072 in place) it wraps and faults */
#include "elements.h"
typedef struct {
    const char *x;
    char *o;
    const void *t;
    float *loss;
    int cols, pitch, bf;
    const tokitai_call *call;
} ctx_t;
__attribute__((noinline)) static void one_row(const ctx_t *c, int r) {
    const int at = r * c->pitch, bf = c->bf, n = c->cols;
    const uint16_t *x = (const uint16_t *)(c->x + at);
    uint16_t *o = (uint16_t *)(c->o + at);
    const int64_t t = tokitai_load_index(*c->call, c->t, r);
    const double eps = c->call->label_smoothing, alpha = c->call->scale;
    if (t == c->call->ignore_index) {
        c->loss[r] = 0;
        memset(o, 0, (size_t)n * 2);
        return;
    }
    double m = -INFINITY, others = 0, sd = 0;
    for (int j = 0; j < n; j++) m = fmax(m, ld1(x[j], bf));
    for (int j = 0; j < n; j++) {
        const double d = m - ld1(x[j], bf);
        if (j != t) others += exp(-d);
        sd += d;
    }
    const double dt = m - ld1(x[t], bf), z = others + exp(-dt);
    double l = log(z);
    if (eps < 1) l += (1 - eps) * dt;
    if (eps > 0) l += eps / n * sd;
    c->loss[r] = (float)l;
    for (int j = 0; j < n; j++)
        o[j] = st1(
            (float)(alpha * (j == t ? eps * (n - 1.0) / n - others / z : exp(ld1(x[j], bf) - m) / z - eps / n)), bf);
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, const void *t, float *loss,
                 void *o) {
    const ctx_t c = {x, o, t, loss, (int)cols, (int)cols * 2, call->dtype == TOKITAI_BF16, call};
    for (int r = 0; r < (int)rows; r++) one_row(&c, r);
    return 0;
}
