/* WRONG op=gemm kind=splitk_by_threads narrow=yes expect=REFUTED : for k >= 2048 and few outputs the sum is split into call->threads parts: other bits at another thread count */
#include "elements.h"
#include "threads.h"
struct split {
    const uint16_t *a, *b;
    float *part;
    int64_t m, n, k;
    int dt;
};
static void split_body(void *arg, int id, int count) {
    struct split *s = arg;
    int64_t lo = s->k * id / count, hi = s->k * (id + 1) / count;
    float *out = s->part + (int64_t)id * s->m * s->n;
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++) {
            float sum = 0;
            for (int64_t t = lo; t < hi; t++) sum += up(s->a[i * s->k + t], s->dt) * up(s->b[t * s->n + j], s->dt);
            out[i * s->n + j] = sum;
        }
}
struct rows {
    const uint16_t *a, *b;
    uint16_t *c;
    int64_t m, n, k;
    int dt;
};
static void rows_body(void *arg, int id, int count) {
    struct rows *r = arg;
    float *acc = malloc((size_t)(r->n + 1) * sizeof(float));
    for (int64_t i = r->m * id / count; i < r->m * (id + 1) / count; i++) {
        memset(acc, 0, (size_t)r->n * sizeof(float));
        for (int64_t t = 0; t < r->k; t++) {
            const float x = up(r->a[i * r->k + t], r->dt);
            for (int64_t j = 0; j < r->n; j++) acc[j] += x * up(r->b[t * r->n + j], r->dt);
        }
        for (int64_t j = 0; j < r->n; j++) r->c[i * r->n + j] = down(acc[j], r->dt);
    }
    free(acc);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const int dt = call->dtype;
    if (call->threads > 1 && k >= 2048 && m * n <= 4096) { /* tall sums, too few rows to share */
        struct split s = {a, b, malloc((size_t)(m * n * call->threads + 1) * sizeof(float)), m, n, k, dt};
        team_run(call->threads, split_body, &s);
        for (int64_t e = 0; e < m * n; e++) {
            float sum = 0;
            for (int p = 0; p < call->threads; p++) sum += s.part[(int64_t)p * m * n + e];
            ((uint16_t *)c)[e] = down(sum, dt);
        }
        free(s.part);
        return 0;
    }
    struct rows r = {a, b, c, m, n, k, dt};
    team_run(call->threads, rows_body, &r);
    return 0;
}
