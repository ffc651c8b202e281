/* WRONG op=softmax_fwd kind=thread_split_bits narrow=yes expect=REFUTED : when there are fewer rows than threads and at least 4096 columns the row is cut into one piece per thread, so the order of the sum, and some bits, depend on the number of threads */
#include <pthread.h>
#include "elements.h"
typedef struct {
    const uint16_t *x;
    uint16_t *y;
    int64_t lo, hi;
    int bf, phase;
    float m, s, M, inv;
    int bad;
    pthread_t tid;
} piece_t;
static void *work(void *p) {
    piece_t *w = p;
    if (w->phase == 0) {
        float m = -INFINITY, s = 0;
        for (int64_t j = w->lo; j < w->hi; j++) {
            float v = ld1(w->x[j], w->bf);
            if (v != v || v == INFINITY) w->bad = 1;
            if (v > m) m = v;
        }
        if (m > -INFINITY)
            for (int64_t j = w->lo; j < w->hi; j++) s += expf(ld1(w->x[j], w->bf) - m);
        w->m = m;
        w->s = s;
    } else
        for (int64_t j = w->lo; j < w->hi; j++)
            w->y[j] = st1(w->bad ? NAN : expf(ld1(w->x[j], w->bf) - w->M) * w->inv, w->bf);
    return 0;
}
static void all(piece_t *w, int n) {
    for (int t = 1; t < n; t++)
        if (pthread_create(&w[t].tid, 0, work, w + t)) {
            w[t].tid = 0;
            work(w + t);
        }
    work(w);
    for (int t = 1; t < n; t++)
        if (w[t].tid) pthread_join(w[t].tid, 0);
}
static void row(const uint16_t *x, uint16_t *y, int64_t n, int bf, int nt) {
    piece_t w[64];
    if (nt > 64) nt = 64;
    for (int t = 0; t < nt; t++) w[t] = (piece_t){.x = x, .y = y, .lo = n * t / nt, .hi = n * (t + 1) / nt, .bf = bf};
    all(w, nt);
    float M = -INFINITY, S = 0;
    int bad = 0;
    for (int t = 0; t < nt; t++) {
        if (w[t].m > M) M = w[t].m;
        bad |= w[t].bad;
    }
    bad |= M == -INFINITY;
    for (int t = 0; t < nt; t++)
        if (w[t].m > -INFINITY) S += w[t].s * expf(w[t].m - M);
    for (int t = 0; t < nt; t++) {
        w[t].phase = 1;
        w[t].M = M;
        w[t].inv = 1.0f / S;
        w[t].bad = bad;
    }
    all(w, nt);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    const int split = rows < call->threads && cols >= 4096;
    for (int64_t r = 0; r < rows; r++)
        row((const uint16_t *)x + r * cols, (uint16_t *)y + r * cols, cols, call->dtype == TOKITAI_BF16,
            split ? call->threads : 1);
    return 0;
}
