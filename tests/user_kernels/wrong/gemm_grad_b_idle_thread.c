/* WRONG op=gemm_grad_b kind=thread_partition narrow=yes expect=REFUTED : the rows are cut into eight slices, dealt out in turn, and a worker whose number is m or more goes home at once, so with threads > m slices that hold a row can get lost */
#include <pthread.h>
#include "kernel.h"
#define SLICES 8
typedef struct {
    const tokitai_call *call;
    const void *a, *g;
    int64_t m, n, k;
    float *parts; /* [SLICES, k, n], zero at first */
    int number, workers;
} worker;
static void *work(void *argument) {
    const worker *w = argument;
    if (w->number >= w->m) return NULL; /* more threads than rows */
    for (int s = w->number; s < SLICES; s += w->workers) {
        float *part = w->parts + s * w->k * w->n;
        for (int64_t i = w->m * s / SLICES; i < w->m * (s + 1) / SLICES; i++)
            for (int64_t t = 0; t < w->k; t++) {
                const float x = tokitai_load(*w->call, w->a, i * w->k + t);
                for (int64_t j = 0; j < w->n; j++)
                    part[t * w->n + j] += x * tokitai_load(*w->call, w->g, i * w->n + j);
            }
    }
    return NULL;
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const int workers = call->threads < SLICES ? call->threads : SLICES;
    float *parts = calloc((size_t)(SLICES * k * n + 1), sizeof *parts);
    if (!parts) return 1;
    worker w[SLICES];
    pthread_t id[SLICES];
    int started[SLICES] = {0};
    for (int x = 0; x < workers; x++) {
        w[x] = (worker){call, a, grad_c, m, n, k, parts, x, workers};
        if (x > 0) started[x] = pthread_create(&id[x], NULL, work, &w[x]) == 0;
        if (!started[x]) work(&w[x]);
    }
    for (int x = 1; x < workers; x++)
        if (started[x]) pthread_join(id[x], NULL);
    for (int64_t e = 0; e < k * n; e++) {
        float sum = parts[e];
        for (int s = 1; s < SLICES; s++) sum += parts[s * k * n + e];
        tokitai_store(*call, grad_b, e, sum);
    }
    free(parts);
    return 0;
}
