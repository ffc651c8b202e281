/* WRONG op=gemm kind=thread_order narrow=no expect=REFUTED : k is split into as many parts as there are threads, so the order of the sum, and the bits, depend on the number of threads */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    const void *a, *b;
    int64_t m, n, k, first, last;
    float *part;
} slice;
static void *work(void *argument) {
    const slice *s = argument;
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t t = s->first; t < s->last; t++) {
            const float x = tokitai_load(*s->call, s->a, i * s->k + t);
            float *row = s->part + i * s->n;
            for (int64_t j = 0; j < s->n; j++) row[j] += x * tokitai_load(*s->call, s->b, t * s->n + j);
        }
    return NULL;
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    enum { MOST = 16 };
    const int parts = call->threads < MOST ? call->threads : MOST;
    float *sum = calloc((size_t)(parts * m * n + 1), sizeof *sum);
    if (!sum) return 1;
    slice s[MOST];
    pthread_t id[MOST];
    int started[MOST];
    for (int p = 0; p < parts; p++) {
        s[p] = (slice){call, a, b, m, n, k, k * p / parts, k * (p + 1) / parts, sum + p * m * n};
        started[p] = p > 0 && pthread_create(&id[p], NULL, work, &s[p]) == 0;
        if (p > 0 && !started[p]) work(&s[p]);
    }
    work(&s[0]);
    for (int p = 1; p < parts; p++)
        if (started[p]) pthread_join(id[p], NULL);
    for (int64_t i = 0; i < m * n; i++) {
        float total = sum[i];
        for (int p = 1; p < parts; p++) total += sum[p * m * n + i];
        tokitai_store(*call, c, i, total);
    }
    free(sum);
    return 0;
}
