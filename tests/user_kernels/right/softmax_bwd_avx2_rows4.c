/* RIGHT op=softmax_bwd kind=row_blocked_simd expect=HELD : four rows side by side, eight fp32 lanes each, columns left over are added one by one */
#include "avx2.h"
AVX2 static void finish(const tokitai_call c, const uint16_t *g, const uint16_t *y, uint16_t *out, int64_t n,
                        float s) {
    const int f16 = c.dtype == TOKITAI_F16;
    const __m256 all = _mm256_set1_ps(s);
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        store8(out + j, _mm256_mul_ps(load8(y + j, f16), _mm256_sub_ps(load8(g + j, f16), all)), f16);
    for (; j < n; j++) tokitai_store(c, out, j, tokitai_load(c, y, j) * (tokitai_load(c, g, j) - s));
}
AVX2 static void block(const tokitai_call c, const uint16_t *g, const uint16_t *y, uint16_t *out, int64_t n,
                       int count) {
    const int f16 = c.dtype == TOKITAI_F16;
    __m256 acc[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int k = 0; k < count; k++)
            acc[k] = _mm256_fmadd_ps(load8(g + k * n + j, f16), load8(y + k * n + j, f16), acc[k]);
    for (int k = 0; k < count; k++) {
        float s = hsum8(acc[k]);
        for (int64_t i = j; i < n; i++) s += tokitai_load(c, g, k * n + i) * tokitai_load(c, y, k * n + i);
        finish(c, g + k * n, y + k * n, out + k * n, n, s);
    }
}
AVX2 int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *grad_output,
                             const void *y, void *grad_input) {
    for (int64_t r = 0; r < rows; r += 4) {
        const int64_t at = r * cols;
        block(*call, (const uint16_t *)grad_output + at, (const uint16_t *)y + at, (uint16_t *)grad_input + at, cols,
              rows - r < 4 ? (int)(rows - r) : 4);
    }
    return 0;
}
