/* RIGHT op=softmax_fwd kind=fp32_simd expect=HELD : eight fp32 lanes with a polynomial exp, the last vector is padded with -inf, lane sums spill into double */
#include "avx2.h"
AVX2 static inline __m256 piece(const uint16_t *x, int64_t left, int f16) {
    if (left >= 8) return load8(x, f16);
    uint16_t pad[8];
    for (int k = 0; k < 8; k++) pad[k] = f16 ? 0xfc00 : 0xff80;
    memcpy(pad, x, (size_t)left * 2);
    return load8(pad, f16);
}
AVX2 static inline double spill(__m256 v) {
    const __m256d s = _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(v)),
                                    _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
    return (s[0] + s[2]) + (s[1] + s[3]);
}
AVX2 static void row(const uint16_t *x, uint16_t *y, int64_t n, int f16) {
    const __m256 lowest = _mm256_set1_ps(-INFINITY), cut = _mm256_set1_ps(-104.0f);
    __m256 top = lowest;
    for (int64_t j = 0; j < n; j += 8)
        top = _mm256_max_ps(piece(x + j, n - j, f16), top); /* the second operand stays where the first is NaN */
    const __m256 m = _mm256_set1_ps(hmax8(top));
    double sum = 0;
    __m256 part = _mm256_setzero_ps();
    for (int64_t j = 0; j < n; j += 8) {
        const __m256 d = _mm256_sub_ps(piece(x + j, n - j, f16), m);
        part = _mm256_add_ps(part, _mm256_andnot_ps(_mm256_cmp_ps(d, cut, _CMP_LT_OQ), exp8(d)));
        if ((j & 127) == 120) {
            sum += spill(part);
            part = _mm256_setzero_ps();
        }
    }
    const __m256 scale = _mm256_set1_ps((float)(1.0 / (sum + spill(part))));
    for (int64_t j = 0; j < n; j += 8) {
        const __m256 d = _mm256_sub_ps(piece(x + j, n - j, f16), m);
        const __m256 v = _mm256_mul_ps(_mm256_andnot_ps(_mm256_cmp_ps(d, cut, _CMP_LT_OQ), exp8(d)), scale);
        uint16_t pad[8];
        store8(n - j >= 8 ? y + j : pad, v, f16);
        if (n - j < 8) memcpy(y + j, pad, (size_t)(n - j) * 2);
    }
}
AVX2 int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++)
        row((const uint16_t *)x + r * cols, (uint16_t *)y + r * cols, cols, call->dtype == TOKITAI_F16);
    return 0;
}
