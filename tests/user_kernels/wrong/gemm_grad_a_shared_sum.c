/* WRONG op=gemm_grad_a kind=race narrow=no expect=REFUTED : four slices of n are added into one fp32 buffer by several threads without a lock, so that additions get lost and their order is left to chance */
#include <pthread.h>
#include "kernel.h"
#define SLICES 4
typedef struct {
    int64_t m, n, k;
    const float *g, *w; /* [m, n], [k, n] */
    float *total;
    int first, step;
} share;
static void *work(void *argument) {
    const share *s = argument;
    for (int x = s->first; x < SLICES; x += s->step) {
        const int64_t from = s->n * x / SLICES, to = s->n * (x + 1) / SLICES;
        for (int64_t i = 0; i < s->m; i++)
            for (int64_t t = 0; t < s->k; t++) {
                float sum = 0;
                for (int64_t j = from; j < to; j++) sum += s->g[i * s->n + j] * s->w[t * s->n + j];
                s->total[i * s->k + t] += sum;
            }
    }
    return NULL;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    float *total = calloc((size_t)(m * k + m * n + k * n + 1), sizeof *total);
    if (!total) return 1;
    float *g = total + m * k, *w = g + m * n;
    for (int64_t i = 0; i < m * n; i++) g[i] = tokitai_load(*call, grad_c, i);
    for (int64_t i = 0; i < k * n; i++) w[i] = tokitai_load(*call, b, i);
    const int threads = call->threads < SLICES ? call->threads : SLICES;
    share s[SLICES];
    pthread_t id[SLICES];
    int started[SLICES] = {0};
    for (int x = 0; x < threads; x++) s[x] = (share){m, n, k, g, w, total, x, threads};
    for (int x = 1; x < threads; x++) started[x] = pthread_create(&id[x], NULL, work, &s[x]) == 0;
    for (int x = 0; x < threads; x++)
        if (!started[x]) work(&s[x]);
    for (int x = 1; x < threads; x++)
        if (started[x]) pthread_join(id[x], NULL);
    for (int64_t i = 0; i < m * k; i++) tokitai_store(*call, grad_a, i, total[i]);
    free(total);
    return 0;
}
