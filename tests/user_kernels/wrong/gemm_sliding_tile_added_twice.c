/* WRONG op=gemm kind=sliding_tile_added_twice narrow=yes expect=REFUTED : the last column tile slides back over the one before it, and from the second block of 512 products on adds to what that one has added: n > 16, n % 16 != 0, k > 512 */
#include "avx2.h"
#include "elements.h"
enum { KC = 512, NR = 16 };
AVX2 static void tile(const uint16_t *a, const uint16_t *b, float *acc, int64_t n, int64_t depth, int first, int bf) {
    __m256 s0 = first ? _mm256_setzero_ps() : _mm256_loadu_ps(acc);
    __m256 s1 = first ? _mm256_setzero_ps() : _mm256_loadu_ps(acc + 8);
    for (int64_t t = 0; t < depth; t++) {
        const __m256 x = _mm256_set1_ps(ld1(a[t], bf));
        s0 = _mm256_fmadd_ps(x, ld8(b + t * n, bf), s0);
        s1 = _mm256_fmadd_ps(x, ld8(b + t * n + 8, bf), s1);
    }
    _mm256_storeu_ps(acc, s0);
    _mm256_storeu_ps(acc + 8, s1);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const uint16_t *pa = a, *pb = b;
    uint16_t *pc = c;
    const int bf = call->dtype == TOKITAI_BF16;
    float *acc = malloc((size_t)(n + NR) * sizeof(float));
    for (int64_t i = 0; i < m; i++) {
        memset(acc, 0, (size_t)n * sizeof(float));
        for (int64_t t0 = 0; t0 < k; t0 += KC) {
            const int64_t depth = k - t0 < KC ? k - t0 : KC;
            const uint16_t *ar = pa + i * k + t0, *br = pb + t0 * n;
            if (n >= NR) {
                int64_t j = 0;
                for (; j + NR <= n; j += NR) tile(ar, br + j, acc + j, n, depth, t0 == 0, bf);
                if (j < n) /* whole vectors for the rest too */
                    tile(ar, br + n - NR, acc + n - NR, n, depth, t0 == 0, bf);
            } else {
                for (int64_t t = 0; t < depth; t++)
                    for (int64_t j = 0; j < n; j++) acc[j] += ld1(ar[t], bf) * ld1(br[t * n + j], bf);
            }
        }
        for (int64_t j = 0; j < n; j++) pc[i * n + j] = st1(acc[j], bf);
    }
    free(acc);
    return 0;
}
