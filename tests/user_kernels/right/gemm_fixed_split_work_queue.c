/* RIGHT op=gemm kind=fixed_split_work_queue expect=HELD : the sum is cut into 4 slices whatever the number of threads, slices are taken from an atomic queue and added in order */
#include "elements.h"
#include "threads.h"
struct work {
    const uint16_t *a, *b;
    float *part;
    int64_t m, n, k;
    int dt;
    int64_t next;
};
static void body(void *arg, int id, int count) {
    struct work *w = arg;
    int64_t job;
    (void)id, (void)count;
    while ((job = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < 4 * w->m) {
        const int64_t i = job / 4, q = job % 4;
        float *out = w->part + job * w->n;
        for (int64_t j = 0; j < w->n; j++) out[j] = 0;
        for (int64_t t = q; t < w->k; t += 4) {
            const float x = up(w->a[i * w->k + t], w->dt);
            for (int64_t j = 0; j < w->n; j++) out[j] += x * up(w->b[t * w->n + j], w->dt);
        }
    }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    struct work w = {a, b, malloc((size_t)(4 * m * n + 1) * sizeof(float)), m, n, k, call->dtype, 0};
    team_run(call->threads, body, &w);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const float *p = w.part + 4 * i * n + j;
            ((uint16_t *)c)[i * n + j] = down((p[0] + p[n]) + (p[2 * n] + p[3 * n]), w.dt);
        }
    free(w.part);
    return 0;
}
