/* WRONG op=gemm_grad_a kind=bf16_pair_unmasked narrow=no expect=REFUTED : bf16: the odd element of a pair is taken as the whole 32-bit word, with the even one still in its low bits */
#include "avx2.h"
#include "elements.h"
AVX2 static float dot_bf16(const uint16_t *x, const uint16_t *y, int64_t n) {
    __m256 even = _mm256_setzero_ps(), odd = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 16 <= n; j += 16) {
        const __m256i u = _mm256_loadu_si256((const __m256i *)(x + j)),
                      v = _mm256_loadu_si256((const __m256i *)(y + j));
        even = _mm256_fmadd_ps(_mm256_castsi256_ps(_mm256_slli_epi32(u, 16)),
                               _mm256_castsi256_ps(_mm256_slli_epi32(v, 16)), even);
        odd = _mm256_fmadd_ps(_mm256_castsi256_ps(u), _mm256_castsi256_ps(v), odd);
    }
    float s = hsum(_mm256_add_ps(even, odd));
    for (; j < n; j++) s += tokitai_from_bf16(x[j]) * tokitai_from_bf16(y[j]);
    return s;
}
AVX2 static float dot_f16(const uint16_t *x, const uint16_t *y, int64_t n) {
    __m256 acc = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) acc = _mm256_fmadd_ps(ld8(x + j, 0), ld8(y + j, 0), acc);
    float s = hsum(acc);
    for (; j < n; j++) s += tokitai_from_f16(x[j]) * tokitai_from_f16(y[j]);
    return s;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const uint16_t *g = grad_c, *w = b;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            ((uint16_t *)grad_a)[i * k + t] = st1(
                bf ? dot_bf16(g + i * n, w + t * n, n) : dot_f16(g + i * n, w + t * n, n), bf);
    return 0;
}
