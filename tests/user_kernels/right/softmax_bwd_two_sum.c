/* RIGHT op=softmax_bwd kind=two_sum expect=HELD : error-free sums (Knuth's two-sum, fp32 with FMA for the products' errors), dropped for the plain sum where anything is infinite or NaN or overflows; rows dealt to threads one by one */
#include <pthread.h>
#include "elements.h"
typedef struct {
    const uint16_t *g, *y;
    uint16_t *o;
    int64_t rows, cols, next;
    int bf;
} q_t;
static void *worker(void *p) {
    q_t *q = p;
    const int bf = q->bf;
    for (;;) {
        const int64_t r = q->rows - 1 - __atomic_fetch_add(&q->next, 1, __ATOMIC_RELAXED);
        if (r < 0) return 0;
        const uint16_t *g = q->g + r * q->cols, *y = q->y + r * q->cols;
        uint16_t *o = q->o + r * q->cols;
        volatile float keep; /* no contraction of what must be rounded */
        float s = 0, e = 0, plain = 0;
        for (int64_t j = 0; j < q->cols; j++) {
            const float a = ld1(y[j], bf), b = ld1(g[j], bf);
            keep = a * b;
            const float t = keep, pe = fmaf(a, b, -t);
            plain += t;
            keep = s + t;
            const float n = keep;
            keep = n - s;
            const float bb = keep;
            keep = n - bb;
            const float da = s - keep, db = t - bb;
            e += (da + db) + pe;
            s = n;
        }
        const float c = s + e, sum = c - c == 0 ? c : plain;
        for (int64_t j = 0; j < q->cols; j++) o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - sum), bf);
    }
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *g, const void *y, void *o) {
    q_t q = {g, y, o, rows, cols, 0, call->dtype == TOKITAI_BF16};
    pthread_t tid[8];
    int made = 0;
    for (int t = 1; t < call->threads && t <= 8 && t < rows; t++)
        if (pthread_create(&tid[made], 0, worker, &q) == 0) made++;
    worker(&q);
    while (made) pthread_join(tid[--made], 0);
    return 0;
}
