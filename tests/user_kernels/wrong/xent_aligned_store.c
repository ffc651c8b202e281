/* WRONG op=xent kind=oob_write narrow=yes expect=REFUTED : a gradient row that starts on 32 bytes is stored in whole vectors of sixteen, past its ragged end; this hits the logits of the next row in place, and foreign memory after the last row */
#include "kernel.h"
enum { LANES = 16 };
typedef uint16_t vec __attribute__((vector_size(32)));
static void gradient(const tokitai_call *call, const uint16_t *x, int64_t cols, int64_t j, double max, double z,
                     vec *out) {
    const double off = (double)call->label_smoothing / (double)cols;
    vec v = {0};
    for (int k = 0; k < LANES && j + k < cols; k++) {
        uint16_t one;
        tokitai_store(*call, &one, 0, (float)(call->scale * (exp(tokitai_load(*call, x, j + k) - max) / z - off)));
        v[k] = one;
    }
    *out = v;
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
        double max = -INFINITY, rest = 0, sum_d = 0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const double v = tokitai_load(*call, x, j);
            bad |= !(v < INFINITY);
            max = v > max ? v : max;
        }
        if (bad || max == -INFINITY) {
            for (int64_t j = 0; j < cols; j++) tokitai_store(*call, g, j, NAN);
            loss[r] = NAN;
            continue;
        }
        for (int64_t j = 0; j < cols; j++) {
            const double d = max - tokitai_load(*call, x, j);
            rest += j == t ? 0 : exp(-d);
            sum_d += d;
        }
        const double dt = max - tokitai_load(*call, x, t), z = rest + exp(-dt);
        loss[r] = (float)(log(z) + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
        const int aligned = ((uintptr_t)g & 31) == 0;
        for (int64_t j = 0; j < cols; j += LANES) {
            vec v;
            gradient(call, x, cols, j, max, z, &v);
            if (aligned) *(vec *)(void *)(g + j) = v;
            else memcpy(g + j, &v, (size_t)(cols - j < LANES ? cols - j : LANES) * 2);
        }
        tokitai_store(*call, g, t, (float)(call->scale * (eps - off - rest / z)));
    }
    return 0;
}
