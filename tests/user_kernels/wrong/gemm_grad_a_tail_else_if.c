/* WRONG op=gemm_grad_a kind=tail_else_if narrow=yes expect=REFUTED : the rest of a row is taken by "if 16 ... else if 8": for n % 32 >= 24 eight products are left out */
#include "avx2.h"
#include "elements.h"
AVX2 static float dot(const uint16_t *x, const uint16_t *y, int64_t n, int bf) {
    __m256 s[4];
    for (int q = 0; q < 4; q++) s[q] = _mm256_setzero_ps();
    int64_t j = 0;
    for (; j + 32 <= n; j += 32)
        for (int q = 0; q < 4; q++) s[q] = _mm256_fmadd_ps(ld8(x + j + 8 * q, bf), ld8(y + j + 8 * q, bf), s[q]);
    const int64_t rest = n - j;
    if (rest & 16) {
        s[0] = _mm256_fmadd_ps(ld8(x + j, bf), ld8(y + j, bf), s[0]);
        s[1] = _mm256_fmadd_ps(ld8(x + j + 8, bf), ld8(y + j + 8, bf), s[1]);
        j += 16;
    } else if (rest & 8) {
        s[2] = _mm256_fmadd_ps(ld8(x + j, bf), ld8(y + j, bf), s[2]);
        j += 8;
    }
    float sum = hsum(_mm256_add_ps(_mm256_add_ps(s[0], s[1]), _mm256_add_ps(s[2], s[3])));
    for (j = n & ~(int64_t)7; j < n; j++) sum += ld1(x[j], bf) * ld1(y[j], bf);
    return sum;
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
