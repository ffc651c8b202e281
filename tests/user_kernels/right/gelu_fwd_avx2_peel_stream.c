/* RIGHT op=gelu_fwd kind=avx2_peel_stream expect=HELD : AVX2 polynomial exp, peeling to 32 bytes through the same arithmetic, streaming stores when large, threads cut at any element */
#include <pthread.h>
#include "avx2.h"
typedef struct {
    const uint16_t *x;
    uint16_t *y;
    int64_t n;
    int f16, stream, alone;
} span;
AVX2 static void *work(void *p) {
    const span *s = p;
    const uint16_t *in = s->x;
    uint16_t *out = s->y;
    int64_t i = (int64_t)((0 - (uintptr_t)out) & 31) / 2;
    if (i > s->n) i = s->n;
    for (int64_t k = 0; k < i; k += 8) vgelu_tail(in + k, out + k, i - k < 8 ? i - k : 8, s->f16);
    for (; i + 16 <= s->n; i += 16) {
        const __m128i a = vpack(vgelu(load8(in + i, s->f16)), s->f16),
                      b = vpack(vgelu(load8(in + i + 8, s->f16)), s->f16);
        if (s->stream) _mm256_stream_si256((__m256i *)(out + i), _mm256_set_m128i(b, a));
        else _mm256_store_si256((__m256i *)(out + i), _mm256_set_m128i(b, a));
    }
    for (; i < s->n; i += 8) vgelu_tail(in + i, out + i, s->n - i < 8 ? s->n - i : 8, s->f16);
    _mm_sfence();
    return NULL;
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    enum { MOST = 16 };
    int nt = n < 1000 ? 1 : call->threads > MOST ? MOST : call->threads;
    span s[MOST];
    pthread_t id[MOST];
    int64_t at = 0;
    for (int t = 0; t < nt; t++) {
        const int64_t m = (n - at) / (nt - t);
        s[t] = (span){(const uint16_t *)x + at, (uint16_t *)y + at, m, call->dtype == TOKITAI_F16, n >= 100000, 0};
        at += m;
        s[t].alone = t == nt - 1 || pthread_create(&id[t], NULL, work, &s[t]) != 0;
    }
    for (int t = nt; t-- > 0;)
        if (s[t].alone) work(&s[t]);
        else pthread_join(id[t], NULL);
    return 0;
}
