/* WRONG op=gemm_grad_a kind=pipelined_odd_chunks narrow=yes expect=REFUTED : software pipelining in steps of two chunks of 16: with an odd number of chunks, three or more, the one in flight at the end is dropped (n / 16 odd, n >= 48) */
#include "avx2.h"
#include "elements.h"
struct chunk {
    __m256 x0, x1, y0, y1;
};
AVX2 static inline struct chunk fetch(const uint16_t *x, const uint16_t *y, int bf) {
    return (struct chunk){ld8(x, bf), ld8(x + 8, bf), ld8(y, bf), ld8(y + 8, bf)};
}
AVX2 static float dot(const uint16_t *x, const uint16_t *y, int64_t n, int bf) {
    __m256 s0 = _mm256_setzero_ps(), s1 = _mm256_setzero_ps();
    const int64_t chunks = n / 16;
    if (chunks > 0) {
        struct chunk p = fetch(x, y, bf), q = p;
        int64_t c = 0;
        for (; c + 2 <= chunks; c += 2) { /* multiply one while the other is on its way */
            q = fetch(x + 16 * (c + 1), y + 16 * (c + 1), bf);
            s0 = _mm256_fmadd_ps(p.x0, p.y0, s0);
            s1 = _mm256_fmadd_ps(p.x1, p.y1, s1);
            if (c + 2 < chunks) p = fetch(x + 16 * (c + 2), y + 16 * (c + 2), bf);
            s0 = _mm256_fmadd_ps(q.x0, q.y0, s0);
            s1 = _mm256_fmadd_ps(q.x1, q.y1, s1);
        }
        if (chunks == 1) { /* never came to the loop */
            s0 = _mm256_fmadd_ps(p.x0, p.y0, s0);
            s1 = _mm256_fmadd_ps(p.x1, p.y1, s1);
        }
    }
    float s = hsum(_mm256_add_ps(s0, s1));
    for (int64_t j = 16 * chunks; j < n; j++) s += ld1(x[j], bf) * ld1(y[j], bf);
    return s;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            ((uint16_t *)grad_a)[i * k + t] = st1(
                dot((const uint16_t *)grad_c + i * n, (const uint16_t *)b + t * n, n, bf), bf);
    return 0;
}
