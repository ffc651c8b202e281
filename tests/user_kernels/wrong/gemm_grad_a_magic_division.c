/* WRONG op=gemm_grad_a kind=magic_division narrow=yes expect=REFUTED : row = (index * (2^32 / k + 1)) >> 32 of the flat index is right for small indices only: one too many from about m * k * (k - 2^32 mod k) >= 2^32 on */
#include "elements.h"
#include "threads.h"
struct work {
    const uint16_t *g, *b;
    uint16_t *out;
    int64_t m, n, k;
    uint64_t magic;
    int dt;
};
/* The outputs are dealt out as one flat range, so that every thread has the same number; no division in the loop. */
static void body(void *arg, int id, int count) {
    const struct work *w = arg;
    const int64_t total = w->m * w->k;
    for (int64_t e = total * id / count; e < total * (id + 1) / count; e++) {
        const int64_t i = (int64_t)(((uint64_t)e * w->magic) >> 32);
        const int64_t t = e - i * w->k;
        const uint16_t *x = w->g + i * w->n, *y = w->b + t * w->n;
        float s = 0;
        for (int64_t j = 0; j < w->n; j++) s += up(x[j], w->dt) * up(y[j], w->dt);
        w->out[e] = down(s, w->dt);
    }
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    if (m == 0 || k == 0) return 0;
    struct work w = {grad_c, b, grad_a, m, n, k, k == 1 ? 1ull << 32 : (1ull << 32) / (uint64_t)k + 1, call->dtype};
    team_run(call->threads, body, &w);
    return 0;
}
