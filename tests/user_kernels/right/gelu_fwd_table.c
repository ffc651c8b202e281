/* RIGHT op=gelu_fwd kind=table expect=HELD : all 65536 results are made once in double and looked up; the range is split over threads */
#include <pthread.h>
#include "gelu.h"
static uint16_t table[2][65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void build(void) {
    for (int i = 0; i < 65536; i++) {
        table[0][i] = tokitai_to_f16(gelu_rounded(tokitai_from_f16((uint16_t)i)));
        table[1][i] = tokitai_to_bf16(gelu_rounded(tokitai_from_bf16((uint16_t)i)));
    }
}
typedef struct {
    const uint16_t *x, *lut;
    uint16_t *y;
    int64_t begin, end;
} job;
static void *work(void *p) {
    const job *j = p;
    for (int64_t i = j->begin; i < j->end; i++) j->y[i] = j->lut[j->x[i]];
    return NULL;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    enum { MOST = 16 };
    pthread_t id[MOST];
    job jobs[MOST];
    int started[MOST] = {0};
    pthread_once(&once, build);
    int64_t threads = call->threads < MOST ? call->threads : MOST;
    if (n < 32768) threads = 1;
    for (int64_t t = 0; t < threads; t++) {
        jobs[t] = (job){x, table[call->dtype == TOKITAI_BF16], y, n * t / threads, n * (t + 1) / threads};
        if (t > 0) started[t] = pthread_create(&id[t], NULL, work, &jobs[t]) == 0;
    }
    for (int64_t t = 0; t < threads; t++)
        if (!started[t]) work(&jobs[t]);
    for (int64_t t = 1; t < threads; t++)
        if (started[t]) pthread_join(id[t], NULL);
    return 0;
}
