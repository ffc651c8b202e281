/* WRONG op=gemm kind=ftz_in_workers narrow=yes expect=REFUTED : worker threads set flush-to-zero and denormals-are-zero: with threads > 1 bf16 subnormal inputs and results are lost in all rows but the caller's */
#include "avx2.h"
#include "elements.h"
#include "threads.h"
struct work {
    const uint16_t *a, *b;
    uint16_t *c;
    int64_t m, n, k;
    int bf;
};
AVX2 static void body(void *arg, int id, int count) {
    struct work *w = arg;
    if (id > 0) /* the thread's own register, gone when it ends */
        _mm_setcsr(_mm_getcsr() | 0x8040);
    for (int64_t i = w->m * id / count; i < w->m * (id + 1) / count; i++) {
        const uint16_t *ar = w->a + i * w->k;
        int64_t j = 0;
        for (; j + 8 <= w->n; j += 8) {
            __m256 s = _mm256_setzero_ps();
            for (int64_t t = 0; t < w->k; t++)
                s = _mm256_fmadd_ps(_mm256_set1_ps(ld1(ar[t], w->bf)), ld8(w->b + t * w->n + j, w->bf), s);
            _mm_storeu_si128((__m128i *)(w->c + i * w->n + j), cvt8(s, w->bf));
        }
        for (; j < w->n; j++) {
            float s = 0;
            for (int64_t t = 0; t < w->k; t++)
                s = __builtin_fmaf(ld1(ar[t], w->bf), ld1(w->b[t * w->n + j], w->bf), s);
            w->c[i * w->n + j] = st1(s, w->bf);
        }
    }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    struct work w = {a, b, c, m, n, k, call->dtype == TOKITAI_BF16};
    team_run(call->threads, body, &w);
    return 0;
}
