/* WRONG op=gelu_fwd kind=float_partition narrow=yes expect=REFUTED : shares come from ceilf((float)n / threads): for n > 2^24 that fp32 rounds down, such as 16777217 with 2 threads, the last elements are not written */
#include <pthread.h>
#include "avx2.h"
typedef struct {
    const uint16_t *x;
    uint16_t *y;
    int64_t count;
    int f16;
} span;
AVX2 static void *work(void *p) {
    const span *s = p;
    int64_t i = 0;
    for (; i + 8 <= s->count; i += 8)
        _mm_storeu_si128((__m128i *)(s->y + i), vpack(vgelu(load8(s->x + i, s->f16)), s->f16));
    if (i < s->count) vgelu_tail(s->x + i, s->y + i, s->count - i, s->f16);
    return NULL;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const int threads = call->threads > 64 ? 64 : call->threads;
    const int f16 = call->dtype == TOKITAI_F16;
    if (threads == 1 || n < 1 << 15) {
        span all = {x, y, n, f16};
        work(&all);
        return 0;
    }
    span s[64];
    pthread_t id[64];
    const int64_t share = (int64_t)ceilf((float)n / (float)threads);
    for (int t = 0; t < threads; t++) {
        const int64_t b = t * share;
        int64_t c = n - b;
        c = c < 0 ? 0 : c > share ? share : c;
        s[t] = (span){(const uint16_t *)x + b, (uint16_t *)y + b, c, f16};
        pthread_create(&id[t], NULL, work, &s[t]);
    }
    for (int t = 0; t < threads; t++) pthread_join(id[t], NULL);
    return 0;
}
