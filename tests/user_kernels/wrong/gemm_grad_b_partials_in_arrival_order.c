/* WRONG op=gemm_grad_b kind=partials_in_arrival_order narrow=no expect=REFUTED : threads > 1: each sums a share of the rows and adds it under a lock as it finishes, so the bits depend on threads and on the schedule */
#include "elements.h"
#include "threads.h"
struct work {
    const uint16_t *g, *a;
    float *sum;
    int64_t m, n, k;
    int dt;
    pthread_mutex_t lock;
};
static void body(void *arg, int id, int count) {
    struct work *w = arg;
    const int64_t outs = w->k * w->n;
    float *part = calloc((size_t)outs + 1, sizeof(float));
    for (int64_t i = w->m * id / count; i < w->m * (id + 1) / count; i++)
        for (int64_t t = 0; t < w->k; t++) {
            const float x = up(w->a[i * w->k + t], w->dt);
            for (int64_t j = 0; j < w->n; j++) part[t * w->n + j] += x * up(w->g[i * w->n + j], w->dt);
        }
    pthread_mutex_lock(&w->lock);
    for (int64_t e = 0; e < outs; e++) w->sum[e] += part[e];
    pthread_mutex_unlock(&w->lock);
    free(part);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    struct work w = {
        grad_c, a, calloc((size_t)(k * n) + 1, sizeof(float)), m, n, k, call->dtype, PTHREAD_MUTEX_INITIALIZER};
    team_run(call->threads, body, &w);
    for (int64_t e = 0; e < k * n; e++) ((uint16_t *)grad_b)[e] = down(w.sum[e], call->dtype);
    free(w.sum);
    return 0;
}
