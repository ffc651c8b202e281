/* RIGHT op=xent kind=split_at_target expect=HELD : fp32; sums the classes before and after the target apart, exp as exp2f of one product, writes the gradient from the last class to the first */
#include "elements.h"
#include "threads.h"
typedef struct {
    const tokitai_call *call;
    const uint16_t *x;
    const void *t;
    float *loss;
    uint16_t *o;
    int64_t cols;
} args_t;
static float span(const uint16_t *x, int64_t lo, int64_t hi, float m, int bf, double *sd) {
    float s = 0;
    for (int64_t j = lo; j < hi; j++) {
        const float d = m - ld1(x[j], bf);
        s += exp2f(-1.44269504f * d);
        *sd += d;
    }
    return s;
}
static void rows_fn(void *p, int64_t lo, int64_t hi) {
    const args_t *a = p;
    const int bf = a->call->dtype == TOKITAI_BF16;
    const int64_t n = a->cols;
    const float eps = a->call->label_smoothing, alpha = a->call->scale;
    const float q = (float)((double)eps / n), off = (float)((double)eps * (n - 1) / n);
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *x = a->x + r * n;
        uint16_t *o = a->o + r * n;
        const int64_t t = tokitai_load_index(*a->call, a->t, r);
        if (t == a->call->ignore_index) {
            a->loss[r] = 0;
            for (int64_t j = n; j-- > 0;) o[j] = 0;
            continue;
        }
        float m = -INFINITY;
        int bad = 0;
        for (int64_t j = n; j-- > 0;) {
            const float v = ld1(x[j], bf);
            bad |= v != v || v == INFINITY;
            m = v > m ? v : m;
        }
        if (bad || m == -INFINITY) {
            a->loss[r] = -NAN;
            for (int64_t j = 0; j < n; j++) o[j] = 0xffff;
            continue;
        }
        const float dt = m - ld1(x[t], bf), et = exp2f(-1.44269504f * dt);
        double sd = dt;
        const float others = span(x, 0, t, m, bf, &sd) + span(x, t + 1, n, m, bf, &sd), z = others + et;
        double l = dt == 0 ? log1pf(others) : logf(z);
        if (eps < 1) l += (1.0 - eps) * dt;
        if (eps > 0) l += (double)eps / n * sd;
        a->loss[r] = (float)l;
        for (int64_t j = n; j-- > 0;) {
            const float g = j == t ? off - others / z : exp2f(-1.44269504f * (m - ld1(x[j], bf))) / z - q;
            o[j] = st1(alpha * g, bf);
        }
    }
}
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, const void *t, float *loss,
                 void *o) {
    args_t a = {call, x, t, loss, o, cols};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
