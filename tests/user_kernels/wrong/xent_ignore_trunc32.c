/* WRONG op=xent kind=ignore_trunc32 narrow=yes expect=REFUTED : ignore_index is kept in 32 bits: INT64_MIN (no row is to be ignored) becomes 0 and rows of class 0 are ignored; any ignore_index beyond 32 bits whose low half is a class */
#include "elements.h"
#include "threads.h"
struct args {
    const uint16_t *x;
    uint16_t *o;
    const void *t;
    float *loss;
    int64_t cols;
    int bf, i64, ignore;
    float eps, alpha;
};
static void rows_fn(void *p, int64_t lo, int64_t hi) {
    const struct args *a = p;
    const int bf = a->bf;
    const int64_t n = a->cols;
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *x = a->x + r * n;
        uint16_t *o = a->o + r * n;
        const int t = a->i64 ? (int)((const int64_t *)a->t)[r] : ((const int32_t *)a->t)[r];
        if (t == a->ignore) {
            a->loss[r] = 0;
            memset(o, 0, (size_t)n * 2);
            continue;
        }
        float m = -INFINITY, part = 0;
        int bad = 0;
        for (int64_t j = 0; j < n; j++) {
            const float v = ld1(x[j], bf);
            bad |= v != v || v == INFINITY;
            m = v > m ? v : m;
        }
        if (bad || m == -INFINITY) {
            a->loss[r] = NAN;
            for (int64_t j = 0; j < n; j++) o[j] = 0x7fff;
            continue;
        }
        double sd = 0;
        const float dt = m - ld1(x[t], bf), et = expf(-dt);
        for (int64_t j = 0; j < n; j++) {
            const float d = m - ld1(x[j], bf);
            if (j != t) part += expf(-d);
            sd += d;
        }
        const float z = part + et, eps = a->eps;
        double l = logf(z);
        if (eps < 1) l += (1.0 - eps) * dt;
        if (eps > 0) l += (double)eps / n * sd;
        a->loss[r] = (float)l;
        for (int64_t j = 0; j < n; j++) {
            const double g = j == t ? (double)eps * (n - 1) / n - part / z
                                    : expf(ld1(x[j], bf) - m) / z - (double)eps / n;
            o[j] = st1((float)(a->alpha * g), bf);
        }
    }
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, const void *t, float *loss,
                 void *o) {
    struct args a = {x,
                     o,
                     t,
                     loss,
                     cols,
                     call->dtype == TOKITAI_BF16,
                     call->index_dtype == TOKITAI_I64,
                     (int)call->ignore_index,
                     call->label_smoothing,
                     call->scale};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
