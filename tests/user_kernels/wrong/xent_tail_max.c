/* WRONG op=xent kind=max_subset narrow=yes expect=REFUTED : the maximum is taken over whole groups of eight columns only, so that with cols % 8 != 0 a last column more than 88 above the rest overflows the float exp */
#include "kernel.h"
static double max8(const tokitai_call *call, const uint16_t *x, int64_t cols) {
    float lane[8];
    int64_t j = 0;
    if (cols < 8) {
        float m = -INFINITY;
        for (; j < cols; j++) {
            const float v = tokitai_load(*call, x, j);
            m = v > m ? v : m;
        }
        return m;
    }
    for (int k = 0; k < 8; k++) lane[k] = -INFINITY;
    for (; j + 8 <= cols; j += 8)
        for (int k = 0; k < 8; k++) {
            const float v = tokitai_load(*call, x, j + k);
            lane[k] = v > lane[k] ? v : lane[k];
        }
    for (int k = 4; k; k /= 2)
        for (int i = 0; i < k; i++) lane[i] = lane[i + k] > lane[i] ? lane[i + k] : lane[i];
    return lane[0];
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
        const double max = max8(call, x, cols);
        double rest = 0, sum_d = 0;
        int bad = 0, some = 0;
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(*call, x, j);
            bad |= !(v < INFINITY);
            some |= v > -INFINITY;
            rest += j == t ? 0 : expf((float)(v - max));
            sum_d += max - v;
        }
        bad |= !some;
        const double dt = max - tokitai_load(*call, x, t), z = rest + expf((float)-dt);
        loss[r] = bad ? NAN : (float)(log(z) + (eps > 0 ? off * sum_d : 0) + (eps < 1 ? (1 - eps) * dt : 0));
        for (int64_t j = 0; j < cols; j++) {
            const double e = expf((float)(tokitai_load(*call, x, j) - max));
            tokitai_store(*call, g, j,
                          bad ? NAN : (float)(call->scale * (j == t ? eps - off - rest / z : e / z - off)));
        }
    }
    return 0;
}
