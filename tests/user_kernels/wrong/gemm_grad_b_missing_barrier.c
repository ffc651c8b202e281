/* WRONG op=gemm_grad_b kind=missing_barrier narrow=no expect=REFUTED : threads widen grad_c to fp32 together and go on to read all of it without waiting for each other: threads > 1 */
#include "elements.h"
#include "threads.h"
struct work {
    const uint16_t *g, *a;
    float *wide;
    uint16_t *out;
    int64_t m, n, k;
    int dt;
};
static void body(void *arg, int id, int count) {
    struct work *w = arg;
    const int64_t all = w->m * w->n;
    for (int64_t e = all * id / count; e < all * (id + 1) / count; e++) /* each its share */
        w->wide[e] = up(w->g[e], w->dt);
    float *acc = malloc((size_t)(w->n + 1) * sizeof(float));
    for (int64_t t = w->k * id / count; t < w->k * (id + 1) / count; t++) {
        for (int64_t j = 0; j < w->n; j++) acc[j] = 0;
        for (int64_t i = 0; i < w->m; i++) {
            const float x = up(w->a[i * w->k + t], w->dt);
            const float *row = w->wide + i * w->n;
            for (int64_t j = 0; j < w->n; j++) acc[j] += x * row[j];
        }
        for (int64_t j = 0; j < w->n; j++) w->out[t * w->n + j] = down(acc[j], w->dt);
    }
    free(acc);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    struct work w = {grad_c, a, calloc((size_t)(m * n + 1), sizeof(float)), grad_b, m, n, k, call->dtype};
    team_run(call->threads, body, &w);
    free(w.wide);
    return 0;
}
