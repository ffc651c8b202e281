/* WRONG op=gemm_grad_b kind=odd_row_paired_with_zero narrow=yes expect=REFUTED : rows go in pairs, and an odd last one is paired with itself times zero: 0 * inf makes NaN of an infinity in the last row of grad_c */
#include "avx2.h"
#include "elements.h"
AVX2 static void pairs(const uint16_t *g, const uint16_t *a, uint16_t *out, int64_t m, int64_t n, int64_t k, int bf) {
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j += 8) {
            const int64_t w = n - j < 8 ? n - j : 8;
            __m256 s0 = _mm256_setzero_ps(), s1 = _mm256_setzero_ps();
            uint16_t r0[8] = {0}, r1[8] = {0};
            for (int64_t i = 0; i < m; i += 2) {
                const int64_t i1 = i + 1 < m ? i + 1 : i; /* stay inside */
                const float x0 = ld1(a[i * k + t], bf), x1 = i + 1 < m ? ld1(a[i1 * k + t], bf) : 0.0f;
                memcpy(r0, g + i * n + j, (size_t)w * 2);
                memcpy(r1, g + i1 * n + j, (size_t)w * 2);
                s0 = _mm256_fmadd_ps(_mm256_set1_ps(x0), ld8(r0, bf), s0);
                s1 = _mm256_fmadd_ps(_mm256_set1_ps(x1), ld8(r1, bf), s1);
            }
            uint16_t o[8];
            _mm_storeu_si128((__m128i *)o, cvt8(_mm256_add_ps(s0, s1), bf));
            memcpy(out + t * n + j, o, (size_t)w * 2);
        }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    pairs(grad_c, a, grad_b, m, n, k, call->dtype == TOKITAI_BF16);
    return 0;
}
