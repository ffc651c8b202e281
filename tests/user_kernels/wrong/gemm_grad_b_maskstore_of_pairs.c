/* WRONG op=gemm_grad_b kind=maskstore_of_pairs narrow=yes expect=REFUTED : the rest of a row is stored by a mask of 32-bit lanes, rounded up to a pair: for odd n % 8 one element past the row, at the last row past the array */
#include "avx2.h"
#include "elements.h"
static const int32_t lanes[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
AVX2 static void row(const uint16_t *g, const uint16_t *a, uint16_t *out, int64_t m, int64_t n, int64_t k, int bf) {
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) {
        __m256 s = _mm256_setzero_ps();
        for (int64_t i = 0; i < m; i++)
            s = _mm256_fmadd_ps(_mm256_set1_ps(ld1(a[i * k], bf)), ld8(g + i * n + j, bf), s);
        _mm_storeu_si128((__m128i *)(out + j), cvt8(s, bf));
    }
    if (j < n) {
        const int rest = (int)(n - j);
        __m256 s = _mm256_setzero_ps();
        for (int64_t i = 0; i < m; i++) {
            uint16_t part[8] = {0};
            memcpy(part, g + i * n + j, (size_t)rest * 2);
            s = _mm256_fmadd_ps(_mm256_set1_ps(ld1(a[i * k], bf)), ld8(part, bf), s);
        }
        /* AVX2 has masked stores of 32 bits: two elements each */
        const __m128i mask = _mm_loadu_si128((const __m128i *)(lanes + 4 - (rest + 1) / 2));
        _mm_maskstore_epi32((int *)(out + j), mask, cvt8(s, bf));
    }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    for (int64_t t = 0; t < k; t++)
        row(grad_c, (const uint16_t *)a + t, (uint16_t *)grad_b + t * n, m, n, k, call->dtype == TOKITAI_BF16);
    return 0;
}
