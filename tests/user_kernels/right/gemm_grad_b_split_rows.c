/* RIGHT op=gemm_grad_b kind=split_k expect=HELD : seven slices of the rows, taken by as many threads as there are, added up in a tree whose shape does not depend on the threads and which carries an odd part along */
#include <pthread.h>
#include "kernel.h"
#define PARTS 7
typedef struct {
    const tokitai_call *call;
    int64_t m, n, k;
    const void *g, *a;
    float *parts; /* [PARTS, k, n], zero */
    int first, step;
} share;
static void *work(void *argument) {
    const share *s = argument;
    for (int p = s->first; p < PARTS; p += s->step) {
        float *part = s->parts + p * s->k * s->n;
        for (int64_t i = p; i < s->m; i += PARTS)
            for (int64_t t = 0; t < s->k; t++) {
                const float x = tokitai_load(*s->call, s->a, i * s->k + t);
                for (int64_t j = 0; j < s->n; j++)
                    part[t * s->n + j] += x * tokitai_load(*s->call, s->g, i * s->n + j);
            }
    }
    return NULL;
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const int threads = call->threads < PARTS ? call->threads : PARTS;
    const int64_t size = k * n;
    float *parts = calloc((size_t)(PARTS * size + 1), sizeof *parts);
    if (!parts) return 1;
    share s[PARTS];
    pthread_t id[PARTS];
    int started[PARTS] = {0};
    for (int x = 0; x < threads; x++) {
        s[x] = (share){call, m, n, k, grad_c, a, parts, x, threads};
        if (x + 1 < threads) started[x] = pthread_create(&id[x], NULL, work, &s[x]) == 0;
        if (!started[x]) work(&s[x]);
    }
    for (int x = 0; x < threads; x++)
        if (started[x]) pthread_join(id[x], NULL);
    for (int left = PARTS; left > 1; left = (left + 1) / 2) {
        const int half = (left + 1) / 2;
        for (int p = 0; p + half < left; p++)
            for (int64_t e = 0; e < size; e++) parts[p * size + e] += parts[(p + half) * size + e];
    }
    for (int64_t e = 0; e < size; e++) tokitai_store(*call, grad_b, e, parts[e]);
    free(parts);
    return 0;
}
