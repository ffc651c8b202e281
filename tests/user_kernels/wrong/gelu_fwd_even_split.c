/* WRONG op=gelu_fwd kind=thread_partition narrow=yes expect=REFUTED : each thread takes n / threads elements, so that the last n % threads stay unwritten from 16384 elements on */
#include <pthread.h>
#include "gelu.h"
typedef struct {
    const tokitai_call *call;
    const uint16_t *x;
    uint16_t *y;
    int64_t n;
} slice;
static void *run(void *p) {
    const slice *s = p;
    for (int64_t i = 0; i < s->n; i++)
        tokitai_store(*s->call, s->y, i, gelu_rounded(tokitai_load(*s->call, s->x, i)));
    return NULL;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    pthread_t id[32];
    slice part[32];
    int threads = call->threads < 32 ? call->threads : 32;
    if (n < 16384) threads = 1;
    const int64_t each = n / threads;
    for (int t = 0; t < threads; t++)
        part[t] = (slice){call, (const uint16_t *)x + t * each, (uint16_t *)y + t * each, each};
    for (int t = 1; t < threads; t++)
        if (pthread_create(&id[t], NULL, run, &part[t])) return 1;
    run(&part[0]);
    for (int t = 1; t < threads; t++) pthread_join(id[t], NULL);
    return 0;
}
