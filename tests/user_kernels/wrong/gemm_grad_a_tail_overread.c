/* WRONG op=gemm_grad_a kind=tail_overread narrow=yes expect=REFUTED : the rest of a row is loaded as a whole vector and masked afterwards: a fault where the last row of an input ends at the end of a mapped page, n % 8 != 0 */
#include "avx2.h"
#include "elements.h"
static const int32_t masks[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
AVX2 static float dot(const uint16_t *x, const uint16_t *y, int64_t n, int bf) {
    __m256 s = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) s = _mm256_fmadd_ps(ld8(x + j, bf), ld8(y + j, bf), s);
    if (j < n) { /* lanes past the end become zero on both sides */
        const __m256 mask = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(masks + 8 - (n - j))));
        s = _mm256_fmadd_ps(_mm256_and_ps(ld8(x + j, bf), mask), _mm256_and_ps(ld8(y + j, bf), mask), s);
    }
    return hsum(s);
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const int bf = call->dtype == TOKITAI_BF16;
    const uint16_t *g = grad_c, *w = b;
    uint16_t *out = grad_a;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) out[i * k + t] = st1(dot(g + i * n, w + t * n, n, bf), bf);
    return 0;
}
