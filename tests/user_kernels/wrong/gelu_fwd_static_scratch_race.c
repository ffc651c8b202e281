/* WRONG op=gelu_fwd kind=static_scratch_race narrow=no expect=REFUTED timing=yes : blocks are converted to fp32 in a static buffer that all threads share: wrong with 2 or more threads and n >= 16384 */
#include <pthread.h>
#include "kernel.h"
#define BLOCK 2048
typedef struct {
    const tokitai_call *call;
    const uint16_t *x;
    uint16_t *y;
    int64_t begin, end;
} part;
static void block(const part *p, int64_t b, int m) {
    static float buf[BLOCK]; /* too large for a worker's stack */
    for (int i = 0; i < m; i++) buf[i] = tokitai_load(*p->call, p->x, b + i);
    for (int i = 0; i < m; i++) {
        const float v = buf[i];
        const float t = 1.5957691216057308f * v * (1.0f + 0.044715f * v * v);
        buf[i] = v / (1.0f + expf(-t));
    }
    for (int i = 0; i < m; i++) tokitai_store(*p->call, p->y, b + i, buf[i]);
}
static void *run(void *a) {
    const part *p = a;
    for (int64_t b = p->begin; b < p->end; b += BLOCK) block(p, b, p->end - b < BLOCK ? (int)(p->end - b) : BLOCK);
    return NULL;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    int nt = n < 16384 ? 1 : call->threads;
    if (nt > 32) nt = 32;
    part parts[32];
    pthread_t id[32];
    for (int t = 0; t < nt; t++) {
        parts[t] = (part){call, x, y, n * t / nt, n * (t + 1) / nt};
        if (t) pthread_create(&id[t], NULL, run, &parts[t]);
    }
    run(&parts[0]);
    for (int t = 1; t < nt; t++) pthread_join(id[t], NULL);
    return 0;
}
