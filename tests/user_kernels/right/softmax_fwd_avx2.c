/* RIGHT op=softmax_fwd kind=avx2_with_a_polynomial_exponential expect=HELD : AVX2 with a polynomial exponential; the tail goes through a padded copy */
#include "avx2.h"
static AVX2 void row(int f16, const uint16_t *x, uint16_t *y, int64_t n) {
    const uint16_t ninf = f16 ? 0xfc00 : 0xff80;
    float m = -INFINITY;
    int odd = 0;
    for (int64_t j = 0; j < n; j++) {
        const float v = f16 ? tokitai_from_f16(x[j]) : tokitai_from_bf16(x[j]);
        odd |= !(v < INFINITY);
        if (v > m) m = v;
    }
    if (odd || m == -INFINITY) {
        for (int64_t j = 0; j < n; j++) y[j] = 0x7fff;
        return;
    }
    __m256 sum = _mm256_setzero_ps(), mv = _mm256_set1_ps(m);
    uint16_t pad[8];
    float e[8], s[8];
    for (int64_t j = 0; j < n; j += 8) {
        const uint16_t *p = x + j;
        if (n - j < 8) {
            for (int k = 0; k < 8; k++) pad[k] = j + k < n ? x[j + k] : ninf;
            p = pad;
        }
        sum = _mm256_add_ps(sum, exp8_below_0(_mm256_sub_ps(load8_as(f16, p), mv)));
    }
    _mm256_storeu_ps(s, sum);
    const float total = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
    for (int64_t j = 0; j < n; j += 8) {
        const int64_t w = n - j < 8 ? n - j : 8;
        for (int k = 0; k < 8; k++) pad[k] = k < w ? x[j + k] : ninf;
        _mm256_storeu_ps(e,
                         _mm256_div_ps(exp8_below_0(_mm256_sub_ps(load8_as(f16, pad), mv)), _mm256_set1_ps(total)));
        for (int k = 0; k < w; k++) y[j + k] = f16 ? tokitai_to_f16(e[k]) : tokitai_to_bf16(e[k]);
    }
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++)
        row(call->dtype == TOKITAI_F16, (const uint16_t *)x + r * cols, (uint16_t *)y + r * cols, cols);
    return 0;
}
