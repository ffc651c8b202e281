/* RIGHT op=softmax_fwd kind=histogram expect=HELD : rows of 4096 and more count how often each 16-bit pattern occurs, sum count * exp over the patterns, and look the results up by pattern; shorter rows use Kahan's sum */
#include "elements.h"
#include "threads.h"
typedef struct {
    const uint16_t *x;
    uint16_t *y;
    int64_t cols;
    int bf;
} args_t;
static void by_count(const uint16_t *x, uint16_t *y, int64_t n, int bf) {
    uint32_t *count = calloc(65536, sizeof *count);
    uint16_t *answer = malloc(65536 * sizeof *answer);
    if (!count || !answer) abort();
    for (int64_t j = 0; j < n; j++) count[x[j]]++;
    float m = -INFINITY;
    int bad = 0;
    for (int p = 0; p < 65536; p++)
        if (count[p]) {
            const float v = ld1((uint16_t)p, bf);
            bad |= v != v || v == INFINITY;
            m = v > m ? v : m;
        }
    bad |= m == -INFINITY;
    double s = 0;
    for (int p = 0; p < 65536 && !bad; p++)
        if (count[p]) s += count[p] * exp((double)ld1((uint16_t)p, bf) - m);
    for (int p = 0; p < 65536; p++)
        if (count[p]) answer[p] = st1(bad ? NAN : (float)(exp((double)ld1((uint16_t)p, bf) - m) / s), bf);
    for (int64_t j = 0; j < n; j++) y[j] = answer[x[j]];
    free(count);
    free(answer);
}
static void rows_fn(void *p, int64_t lo, int64_t hi) {
    const args_t *a = p;
    for (int64_t r = lo; r < hi; r++) {
        const uint16_t *x = a->x + r * a->cols;
        uint16_t *y = a->y + r * a->cols;
        if (a->cols >= 4096) {
            by_count(x, y, a->cols, a->bf);
            continue;
        }
        float m = -INFINITY, s = 0, c = 0;
        for (int64_t j = 0; j < a->cols; j++) m = fmaxf(m, ld1(x[j], a->bf));
        for (int64_t j = 0; j < a->cols; j++) {
            const float e = expf(ld1(x[j], a->bf) - m) - c, t = s + e;
            c = (t - s) - e;
            s = t;
        }
        for (int64_t j = 0; j < a->cols; j++) y[j] = st1(expf(ld1(x[j], a->bf) - m) / s, a->bf);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    args_t a = {x, y, cols, call->dtype == TOKITAI_BF16};
    par_rows(call->threads, rows, rows_fn, &a);
    return 0;
}
