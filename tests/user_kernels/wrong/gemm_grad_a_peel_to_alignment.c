/* WRONG op=gemm_grad_a kind=peel_to_alignment narrow=yes expect=REFUTED : products before the first 16-byte boundary of a row of grad_c are peeled into a sum of their own: the order, and the bits, follow the address */
#include "avx2.h"
#include "elements.h"
AVX2 static float dot(const uint16_t *x, const uint16_t *y, int64_t n, int bf) {
    int64_t peel = (int64_t)((16 - ((uintptr_t)x & 15)) & 15) / 2, j = 0;
    if (peel > n) peel = n;
    float head = 0;
    for (; j < peel; j++) head += ld1(x[j], bf) * ld1(y[j], bf);
    __m256 s = _mm256_setzero_ps();
    for (; j + 8 <= n; j += 8) {
        const __m128i h = _mm_load_si128((const __m128i *)(x + j));
        const __m256 v = bf ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16))
                            : _mm256_cvtph_ps(h);
        s = _mm256_fmadd_ps(v, ld8(y + j, bf), s);
    }
    float tail = 0;
    for (; j < n; j++) tail += ld1(x[j], bf) * ld1(y[j], bf);
    return head + hsum(s) + tail;
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
