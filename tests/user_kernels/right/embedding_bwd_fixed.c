/* RIGHT op=embedding_bwd kind=fixed_point expect=HELD : f16 hits are added exactly as 64-bit integers in units of 2^-24 by atomics from all threads, bf16 and very long inputs in double */
#include <pthread.h>
#include <stdatomic.h>
#include "kernel.h"
enum { PLUS = 1, MINUS = 2, NOT = 4 };
typedef struct job {
    const tokitai_call *call;
    int64_t first, last, dim;
    const uint16_t *grad;
    const void *index;
    atomic_llong *sum;
    atomic_uchar *special;
} job;
static void *add_rows(void *arg) {
    const job *w = arg;
    for (int64_t i = w->first; i < w->last; i++) {
        const int64_t at = tokitai_load_index(*w->call, w->index, i) * w->dim;
        for (int64_t j = 0; j < w->dim; j++) {
            const uint16_t g = w->grad[i * w->dim + j];
            const int e = g >> 10 & 31;
            int64_t m = g & 1023;
            if (e == 31) {
                atomic_fetch_or_explicit(&w->special[at + j], m ? NOT : g >> 15 ? MINUS : PLUS, memory_order_relaxed);
                continue;
            }
            if (e > 0) m = (m | 1024) << (e - 1);
            atomic_fetch_add_explicit(&w->sum[at + j], g >> 15 ? -m : m, memory_order_relaxed);
        }
    }
    return NULL;
}
static int in_double(const tokitai_call *call, int64_t queries, int64_t dim, int64_t n, const uint16_t *grad,
                     const void *index, void *out) {
    double *sum = calloc((size_t)n, sizeof *sum);
    if (sum == NULL) return 1;
    for (int64_t i = queries - 1; i >= 0; i--) {
        double *to = sum + tokitai_load_index(*call, index, i) * dim;
        for (int64_t j = 0; j < dim; j++) to[j] += tokitai_load(*call, grad, i * dim + j);
    }
    for (int64_t k = 0; k < n; k++) tokitai_store(*call, out, k, (float)sum[k]);
    free(sum);
    return 0;
}
int tokitai_embedding_bwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab,
                          const void *grad_output, const void *index, void *grad_weight) {
    enum { MOST = 8 };
    const int64_t n = vocab * dim;
    if (n == 0) return 0;
    if (call->dtype != TOKITAI_F16 || queries > 1 << 22)
        return in_double(call, queries, dim, n, grad_output, index, grad_weight);
    atomic_llong *sum = calloc((size_t)n, sizeof *sum);
    atomic_uchar *special = calloc((size_t)n, 1);
    if (sum == NULL || special == NULL) {
        free(sum), free(special);
        return 1;
    }
    const int64_t t = call->threads < MOST ? call->threads : MOST;
    pthread_t id[MOST];
    job w[MOST];
    int started[MOST] = {0};
    for (int64_t k = 0; k < t; k++) {
        w[k] = (job){call, queries * k / t, queries * (k + 1) / t, dim, grad_output, index, sum, special};
        started[k] = k + 1 < t && pthread_create(&id[k], NULL, add_rows, &w[k]) == 0;
        if (!started[k]) add_rows(&w[k]);
    }
    for (int64_t k = 0; k < t; k++)
        if (started[k]) pthread_join(id[k], NULL);
    for (int64_t k = 0; k < n; k++) {
        const int s = special[k];
        const float v = s == 0 ? (float)sum[k] * 0x1p-24f : s == PLUS ? INFINITY : s == MINUS ? -INFINITY : NAN;
        tokitai_store(*call, grad_weight, k, v);
    }
    free(sum), free(special);
    return 0;
}
