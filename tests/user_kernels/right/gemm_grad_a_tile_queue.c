/* RIGHT op=gemm_grad_a kind=task_queue expect=HELD : tiles of 5 by 3 are drawn from an atomic counter by all threads, inputs are widened by a table of all 65536 patterns, and every sum is done by one thread in order */
#include <pthread.h>
#include <stdatomic.h>
#include "kernel.h"
#define MR 5
#define KR 3
static float half_table[65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void fill(void) {
    for (int p = 0; p < 65536; p++) half_table[p] = tokitai_from_f16((uint16_t)p);
}
typedef struct {
    const tokitai_call *call;
    int64_t m, n, k;
    const uint16_t *g, *b;
    void *out;
    _Atomic int64_t next;
} queue;
static inline float get(const queue *q, uint16_t v) {
    return q->call->dtype == TOKITAI_F16 ? half_table[v] : tokitai_from_bf16(v);
}
static void tile(const queue *q, int64_t i, int64_t t) {
    const int64_t rows = q->m - i < MR ? q->m - i : MR, cols = q->k - t < KR ? q->k - t : KR;
    float sum[MR][KR];
    memset(sum, 0, sizeof sum);
    for (int64_t j = 0; j < q->n; j++) {
        float x[MR], y[KR];
        for (int64_t r = 0; r < rows; r++) x[r] = get(q, q->g[(i + r) * q->n + j]);
        for (int64_t s = 0; s < cols; s++) y[s] = get(q, q->b[(t + s) * q->n + j]);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t s = 0; s < cols; s++) sum[r][s] += x[r] * y[s];
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t s = 0; s < cols; s++) tokitai_store(*q->call, q->out, (i + r) * q->k + t + s, sum[r][s]);
}
static void *work(void *argument) {
    queue *q = argument;
    const int64_t across = (q->k + KR - 1) / KR, count = (q->m + MR - 1) / MR * across;
    for (int64_t x; (x = atomic_fetch_add(&q->next, 1)) < count;) tile(q, x / across * MR, x % across * KR);
    return NULL;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    enum { MOST = 32 };
    pthread_once(&once, fill);
    queue q = {call, m, n, k, grad_c, b, grad_a, 0};
    pthread_t id[MOST];
    int started = 0;
    while (started < MOST && started + 1 < call->threads && pthread_create(&id[started], NULL, work, &q) == 0)
        started++;
    work(&q);
    while (started > 0) pthread_join(id[--started], NULL);
    return 0;
}
