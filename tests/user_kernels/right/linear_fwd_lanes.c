/* RIGHT op=linear_fwd kind=lanes expect=HELD : eight fp32 lanes along k, joined pairwise, an epilogue function for each choice, rows shared among threads */
#include <pthread.h>
#include "kernel.h"
typedef struct job {
    const tokitai_tensor *t;
    int64_t epilogue, begin, end;
} job;
static float dot(const tokitai_tensor *x, int64_t i, const tokitai_tensor *w, int64_t j, int64_t k) {
    float lane[8] = {0};
    int64_t t = 0;
    for (; t + 8 <= k; t += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += tokitai_load_as(x->dtype, x->data, i * k + t + l) *
                       tokitai_load_as(w->dtype, w->data, j * k + t + l);
    for (int l = 0; t + l < k; l++)
        lane[l] += tokitai_load_as(x->dtype, x->data, i * k + t + l) *
                   tokitai_load_as(w->dtype, w->data, j * k + t + l);
    for (int step = 4; step; step /= 2)
        for (int l = 0; l < step; l++) lane[l] += lane[l + step];
    return lane[0];
}
/* exp of a negative number only: nothing overflows, and far out y is v or 0. */
static float gelu(float v) {
    const double z = 1.5957691216057308 * ((double)v + 0.044715 * (double)v * v * v);
    const double e = exp(-fabs(z));
    return isnan(v) ? v : (float)(z >= 0 ? v / (1 + e) : v * e / (1 + e));
}
static void *rows(void *argument) {
    const job *a = argument;
    const tokitai_tensor *x = &a->t[0], *w = &a->t[1], *bias = &a->t[2], *residual = &a->t[3], *y = &a->t[4],
                         *pre = &a->t[5];
    const int64_t k = x->shape[1], n = w->shape[0];
    for (int64_t i = a->begin; i < a->end; i++)
        for (int64_t j = 0; j < n; j++) {
            float v = dot(x, i, w, j, k);
            switch (a->epilogue) {
            case 3:
                v += tokitai_load_as(residual->dtype, residual->data, i * n + j);
                /* and the bias */ /* fall through */
            case 0:
            case 1: v += tokitai_load_as(bias->dtype, bias->data, j); break;
            case 4: v += tokitai_load_as(residual->dtype, residual->data, i * n + j); break;
            default: break;
            }
            if (a->epilogue == 1 || a->epilogue == 2) {
                tokitai_store_as(pre->dtype, pre->data, i * n + j, v);
                v = gelu(v);
            }
            tokitai_store_as(y->dtype, y->data, i * n + j, v);
        }
    return 0;
}
TOKITAI_KERNEL(linear_fwd) {
    enum { MOST = 8 };
    const int64_t m = tensors[0].shape[0];
    const int parts = call->threads < MOST ? call->threads : MOST;
    pthread_t threads[MOST];
    int started[MOST] = {0};
    job jobs[MOST];
    for (int p = 0; p < parts; p++) {
        jobs[p] = (job){tensors, tokitai_integer(call, "epilogue"), m * p / parts, m * (p + 1) / parts};
        started[p] = p + 1 < parts && !pthread_create(&threads[p], 0, rows, &jobs[p]);
        if (!started[p]) rows(&jobs[p]);
    }
    for (int p = 0; p < parts; p++)
        if (started[p]) pthread_join(threads[p], 0);
    return 0;
}
