/* RIGHT op=xent kind=vector_exp expect=HELD : four doubles at a time with a polynomial exp, fixed lanes whatever the address, tail padded with -inf */
#include "kernel.h"
typedef double v4 __attribute__((vector_size(32)));
typedef int64_t i4 __attribute__((vector_size(32)));
/* exp(-d) for d >= 0, 0 from d = 700 on */
static inline void exp4(const v4 *pd, v4 *out) {
    const v4 d = *pd;
    const i4 live = d < 700.0;
    const v4 zero = {0}, a = (v4)((i4)d & live);
    const v4 magic = zero + 0x1.8p52;
    const v4 k = (a * -1.4426950408889634 + magic) - magic;
    const v4 r = (-a - k * 0x1.62e42fefa0000p-1) - k * 0x1.cf79abc9e3b3ap-40;
    v4 p = zero + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const i4 e = ((i4)(k + magic) - (i4)magic + 1023) << 52;
    *out = (v4)((i4)(p * (v4)e) & live);
}
static inline void load4(const tokitai_call *call, const uint16_t *x, int64_t j, int64_t cols, v4 *out) {
    for (int k = 0; k < 4; k++) (*out)[k] = j + k < cols ? tokitai_load(*call, x, j + k) : -INFINITY;
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    const double eps = call->label_smoothing, alpha = call->scale, off = eps / (double)cols;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)logits + r * cols;
        uint16_t *g = (uint16_t *)grad_logits + r * cols;
        const int64_t t = tokitai_load_index(*call, target, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            if (cols) memset(g, 0, (size_t)cols * 2);
            continue;
        }
        double max = -INFINITY, nan = 0;
        for (int64_t j = 0; j < cols; j++) {
            const double v = tokitai_load(*call, x, j);
            max = v > max ? v : max;
            nan += v * 0 != 0 && v != -INFINITY;
        }
        if (nan > 0 || max == -INFINITY) {
            for (int64_t j = 0; j < cols; j++) tokitai_store(*call, g, j, NAN);
            loss[r] = NAN;
            continue;
        }
        const double dt = max - tokitai_load(*call, x, t);
        v4 sum = {0}, sum_d = {0}, v, e;
        for (int64_t j = 0; j < cols; j += 4) {
            load4(call, x, j, cols, &v);
            v = max - v;
            exp4(&v, &e);
            if (t >= j && t < j + 4) e[t - j] = 0;
            sum += e;
            for (int k = 0; k < 4; k++) sum_d[k] += j + k < cols ? v[k] : 0;
        }
        const double others = (sum[0] + sum[1]) + (sum[2] + sum[3]), z = others + exp(-dt);
        for (int64_t j = 0; j < cols; j += 4) {
            load4(call, x, j, cols, &v);
            v = max - v;
            exp4(&v, &e);
            v = e / z - off;
            for (int k = 0; k < 4 && j + k < cols; k++)
                tokitai_store(*call, g, j + k, (float)(alpha * (j + k == t ? eps - off - others / z : v[k])));
        }
        double l = log(z);
        if (eps > 0) l += off * ((sum_d[0] + sum_d[1]) + (sum_d[2] + sum_d[3]));
        if (eps < 1) l += (1 - eps) * dt;
        loss[r] = (float)l;
    }
    return 0;
}
