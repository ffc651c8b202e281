/* RIGHT op=gemm kind=split_k expect=HELD : k is cut into at most eight slices by its size alone, threads take slices, and the partial sums are added in the order of the slices */
#include <pthread.h>
#include "kernel.h"
#define SLICES 8
typedef struct {
    const tokitai_call *call;
    const void *a, *b;
    int64_t m, n, k, depth;
    int slices, first, step;
    float *parts; /* [slices, m, n], zero */
} share;
static void *work(void *argument) {
    const share *s = argument;
    for (int x = s->first; x < s->slices; x += s->step) {
        float *part = s->parts + x * s->m * s->n;
        const int64_t end = (x + 1) * s->depth < s->k ? (x + 1) * s->depth : s->k;
        for (int64_t t = x * s->depth; t < end; t++)
            for (int64_t i = 0; i < s->m; i++) {
                const float v = tokitai_load(*s->call, s->a, i * s->k + t);
                for (int64_t j = 0; j < s->n; j++)
                    part[i * s->n + j] += v * tokitai_load(*s->call, s->b, t * s->n + j);
            }
    }
    return NULL;
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const int64_t eighth = (k + SLICES - 1) / SLICES, depth = eighth > 48 ? eighth : 48;
    const int slices = k > 0 ? (int)((k + depth - 1) / depth) : 1;
    const int threads = call->threads < slices ? call->threads : slices;
    float *parts = calloc((size_t)(slices * m * n + 1), sizeof *parts);
    if (!parts) return 1;
    share s[SLICES];
    pthread_t id[SLICES];
    int started[SLICES] = {0};
    for (int x = 0; x < threads; x++) {
        s[x] = (share){call, a, b, m, n, k, depth, slices, x, threads, parts};
        if (x + 1 < threads) started[x] = pthread_create(&id[x], NULL, work, &s[x]) == 0;
        if (!started[x]) work(&s[x]);
    }
    for (int x = 0; x < threads; x++)
        if (started[x]) pthread_join(id[x], NULL);
    for (int64_t e = 0; e < m * n; e++) {
        float sum = parts[e];
        for (int x = 1; x < slices; x++) sum += parts[x * m * n + e];
        tokitai_store(*call, c, e, sum);
    }
    free(parts);
    return 0;
}
