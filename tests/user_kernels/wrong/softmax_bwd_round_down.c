/* WRONG op=softmax_bwd kind=rounding_mode narrow=no expect=REFUTED : the rounding mode is set to toward zero for the sums and restored only after the results, so that the conversion to f16 cuts off as well */
#include "avx2.h"
AVX2 int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output,
                             const void *y, void *grad_input) {
    const int f16 = call->dtype == TOKITAI_F16;
    const unsigned saved = _mm_getcsr();
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *g = (const uint16_t *)grad_output + r * cols, *v = (const uint16_t *)y + r * cols;
        uint16_t *out = (uint16_t *)grad_input + r * cols;
        __m256d low = _mm256_setzero_pd(), high = _mm256_setzero_pd();
        _mm_setcsr(saved | _MM_ROUND_TOWARD_ZERO); /* partial sums never grow past the exact one */
        for (int64_t j = 0; j < cols; j += 8) {
            uint16_t a[8] = {0}, b[8] = {0};
            memcpy(a, g + j, (size_t)(cols - j < 8 ? cols - j : 8) * 2);
            memcpy(b, v + j, (size_t)(cols - j < 8 ? cols - j : 8) * 2);
            const __m256 p = _mm256_mul_ps(load8(a, f16), load8(b, f16));
            low = _mm256_add_pd(low, _mm256_cvtps_pd(_mm256_castps256_ps128(p)));
            high = _mm256_add_pd(high, _mm256_cvtps_pd(_mm256_extractf128_ps(p, 1)));
        }
        low = _mm256_add_pd(low, high);
        const __m256 s = _mm256_set1_ps((float)((low[0] + low[2]) + (low[1] + low[3])));
        for (int64_t j = 0; j < cols; j += 8) {
            uint16_t a[8] = {0}, b[8] = {0};
            const size_t bytes = (size_t)(cols - j < 8 ? cols - j : 8) * 2;
            memcpy(a, g + j, bytes);
            memcpy(b, v + j, bytes);
            const __m256 d = _mm256_mul_ps(load8(b, f16), _mm256_sub_ps(load8(a, f16), s));
            const __m128i h = f16 ? _mm256_cvtps_ph(d, _MM_FROUND_CUR_DIRECTION) : pack8(d, 0);
            memcpy(out + j, &h, bytes);
        }
        _mm_setcsr(saved);
    }
    return 0;
}
