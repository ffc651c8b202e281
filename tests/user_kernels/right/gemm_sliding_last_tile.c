/* RIGHT op=gemm kind=sliding_last_tile expect=HELD : AVX2 and FMA, the last column tile slides back over its neighbour and writes the same values again; runtime dispatch */
#include "avx2.h"
#include "elements.h"
AVX2 static void fast(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m, int64_t n, int64_t k, int bf) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j0 = 0; j0 < n; j0 += 8) {
            const int64_t j = j0 + 8 <= n ? j0 : n - 8;
            __m256 s = _mm256_setzero_ps();
            for (int64_t t = 0; t < k; t++) {
                _mm_prefetch((const char *)(b + (t + 16) * n + j),
                             _MM_HINT_T0); /* may lie past the end: a prefetch never faults */
                s = _mm256_fmadd_ps(_mm256_set1_ps(ld1(a[i * k + t], bf)), ld8(b + t * n + j, bf), s);
            }
            _mm_storeu_si128((__m128i *)(c + i * n + j), cvt8(s, bf));
        }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a, *pb = b;
    const int bf = call->dtype == TOKITAI_BF16;
    if (n >= 8 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
        fast(pa, pb, c, m, n, k, bf);
        return 0;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t t = 0; t < k; t++) s += ld1(pa[i * k + t], bf) * ld1(pb[t * n + j], bf);
            ((uint16_t *)c)[i * n + j] = st1(s, bf);
        }
    return 0;
}
