/* RIGHT op=gelu_fwd kind=exp2_peeled_threads expect=HELD : sigmoid by exp2f of an argument formed in double, output peeled to 32 bytes, slices by pthreads */
#include <pthread.h>
#include "kernel.h"
typedef struct {
    const tokitai_call *call;
    const uint16_t *x;
    uint16_t *y;
    int64_t begin, end;
} slice;
static inline float gelu(float x) {
    const double d = x;
    /* -2 c log2(e) (x + a x^3) */
    const double t = -2.3022082020893405 * d * (1.0 + 0.044715 * d * d);
    return x / (1.0f + exp2f((float)t));
}
static inline uint16_t one(const tokitai_call *call, uint16_t p) {
    if (call->dtype == TOKITAI_F16) return tokitai_to_f16(gelu(tokitai_from_f16(p)));
    return tokitai_to_bf16(gelu(tokitai_from_bf16(p)));
}
static void *work(void *arg) {
    const slice *s = arg;
    int64_t i = s->begin;
    while (i < s->end && ((uintptr_t)(s->y + i) & 31) != 0) {
        s->y[i] = one(s->call, s->x[i]);
        i++;
    }
    for (; i + 16 <= s->end; i += 16)
        for (int l = 0; l < 16; l++) s->y[i + l] = one(s->call, s->x[i + l]);
    for (; i < s->end; i++) s->y[i] = one(s->call, s->x[i]);
    return 0;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    enum { MOST = 16 };
    slice s[MOST];
    pthread_t id[MOST];
    int started[MOST] = {0};
    int64_t parts = call->threads < MOST ? call->threads : MOST;
    if (n < 8192) parts = 1;
    for (int64_t t = 0; t < parts; t++) {
        s[t] = (slice){call, x, y, n / parts * t + (t < n % parts ? t : n % parts), 0};
        s[t].end = s[t].begin + n / parts + (t < n % parts);
    }
    for (int64_t t = 1; t < parts; t++) started[t] = pthread_create(&id[t], 0, work, &s[t]) == 0;
    work(&s[0]);
    for (int64_t t = 1; t < parts; t++)
        if (started[t]) pthread_join(id[t], 0);
        else work(&s[t]);
    return 0;
}
