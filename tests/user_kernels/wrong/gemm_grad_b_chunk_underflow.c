/* WRONG op=gemm_grad_b kind=chunk_underflow narrow=yes expect=REFUTED : threads take ceil(k / threads) rows each, and how many are left is a size_t: where the last thread begins after k (k = 5 and 4 threads) it runs past the array */
#include "elements.h"
#include "threads.h"
struct work {
    const uint16_t *g, *a;
    uint16_t *out;
    size_t m, n, k;
    int dt;
};
static void body(void *arg, int id, int count) {
    struct work *w = arg;
    const size_t chunk = (w->k + (size_t)count - 1) / (size_t)count;
    const size_t begin = chunk * (size_t)id;
    const size_t left = w->k - begin;
    const size_t rows = left < chunk ? left : chunk;
    float *acc = malloc((w->n + 1) * sizeof(float));
    for (size_t t = begin; t < begin + rows; t++) {
        for (size_t j = 0; j < w->n; j++) acc[j] = 0;
        for (size_t i = 0; i < w->m; i++) {
            const float x = up(w->a[i * w->k + t], w->dt);
            for (size_t j = 0; j < w->n; j++) acc[j] += x * up(w->g[i * w->n + j], w->dt);
        }
        for (size_t j = 0; j < w->n; j++) w->out[t * w->n + j] = down(acc[j], w->dt);
    }
    free(acc);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    int threads = call->threads;
    if (threads > k) threads = k > 0 ? (int)k : 1;
    struct work w = {grad_c, a, grad_b, (size_t)m, (size_t)n, (size_t)k, call->dtype};
    team_run(threads, body, &w);
    return 0;
}
