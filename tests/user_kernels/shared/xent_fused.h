/* xent, the loss and the gradient of a row together, in float. A kernel that includes this defines before what it does otherwise. */
#include "kernel.h"
#ifndef CONST
#define CONST const
#endif
#ifndef AT_FIRST
#define AT_FIRST
#endif
#ifndef SMOOTHING
#define SMOOTHING c.label_smoothing
#endif
#ifndef BEFORE_ROWS
#define BEFORE_ROWS
#endif
#ifndef TARGET
#define TARGET tokitai_load_index(c, target, r)
#endif
#ifndef IGNORED
#define IGNORED t == c.ignore_index
#endif
#ifndef CLEAR
#define CLEAR ((uint16_t *)grad_logits)[b + j] = 0
#endif
#ifndef LOSS
#define LOSS logf(z) + (eps < 1 ? (1 - eps) * (m - xt) : 0) + (eps > 0 ? eps / cols * sd : 0)
#endif
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits) {
    CONST tokitai_call c = *call;
    AT_FIRST
    const float eps = SMOOTHING;
    BEFORE_ROWS
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = TARGET, b = r * cols;
        if (IGNORED) {
            loss[r] = 0;
            for (int64_t j = 0; j < cols; j++) CLEAR;
            continue;
        }
        float m = -INFINITY, others = 0, sd = 0;
        for (int64_t j = 0; j < cols; j++) m = fmaxf(m, tokitai_load(c, logits, b + j));
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, logits, b + j);
            if (j != t) others += expf(v - m);
#ifdef ADD_SPREAD
            ADD_SPREAD
#else
            if (eps > 0) sd += m - v;
#endif
        }
#ifdef BEFORE_LOSS
        BEFORE_LOSS
#else
        const float xt = tokitai_load(c, logits, b + t), z = others + expf(xt - m);
#endif
        loss[r] = LOSS;
#ifdef GRADIENT
        GRADIENT
#else
        for (int64_t j = 0; j < cols; j++) {
            const float v = tokitai_load(c, logits, b + j);
            const float d = j == t ? eps * (float)(cols - 1) / cols - others / z : expf(v - m) / z - eps / cols;
            tokitai_store(c, grad_logits, b + j, c.scale * d);
        }
#endif
    }
    return 0;
}
