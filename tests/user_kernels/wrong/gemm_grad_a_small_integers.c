/* WRONG op=gemm_grad_a kind=value_range narrow=yes expect=REFUTED : if all inputs are integers up to 255 the products are formed in 16-bit lanes, so a product beyond 32767 wraps around */
#include <emmintrin.h>
#include "kernel.h"
/* to[i] = from[i] if all are small integers; 0 if not */
static int quantise(const tokitai_call *call, const void *from, int64_t count, int16_t *to) {
    for (int64_t i = 0; i < count; i++) {
        const float v = tokitai_load(*call, from, i);
        if (!(fabsf(v) <= 255) || v != rintf(v)) return 0;
        to[i] = (int16_t)v;
    }
    return 1;
}
static float dot_integers(const int16_t *x, const int16_t *y, int64_t n) {
    __m128i sum = _mm_setzero_si128();
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) {
        const __m128i p = _mm_mullo_epi16(_mm_loadu_si128((const __m128i *)(x + j)),
                                          _mm_loadu_si128((const __m128i *)(y + j)));
        sum = _mm_add_epi32(sum, _mm_madd_epi16(p, _mm_set1_epi16(1)));
    }
    int32_t lanes[4];
    _mm_storeu_si128((__m128i *)lanes, sum);
    int64_t total = (int64_t)lanes[0] + lanes[1] + lanes[2] + lanes[3];
    for (; j < n; j++) total += x[j] * y[j];
    return (float)total;
}
static float dot(const tokitai_call *call, const void *x, int64_t i, const void *y, int64_t t, int64_t n) {
    float sum = 0;
    for (int64_t j = 0; j < n; j++) sum += tokitai_load(*call, x, i * n + j) * tokitai_load(*call, y, t * n + j);
    return sum;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    int16_t *x = malloc((size_t)((m + k) * n + 1) * sizeof *x);
    if (!x) return 1;
    int16_t *y = x + m * n;
    const int integers = n <= 65536 && quantise(call, grad_c, m * n, x) && quantise(call, b, k * n, y);
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            tokitai_store(*call, grad_a, i * k + t,
                          integers ? dot_integers(x + i * n, y + t * n, n) : dot(call, grad_c, i, b, t, n));
    free(x);
    return 0;
}
