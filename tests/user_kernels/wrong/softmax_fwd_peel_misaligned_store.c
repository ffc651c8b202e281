/* WRONG op=softmax_fwd kind=peel_misaligned_store narrow=yes expect=REFUTED : peels elements until x is aligned to 16 bytes and then stores y with aligned stores: faults where x and y are not aligned alike (rows of 16 and more) */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
static void row(const uint16_t *x, uint16_t *y, int64_t n, int bf) {
    int64_t j, peel = (int64_t)((16 - ((uintptr_t)x & 15)) & 15) / 2;
    if (n < 16) peel = n;
    const int64_t end = peel + ((n - peel) & ~(int64_t)7);
    float m = -INFINITY, s = 0;
    int bad = 0;
    for (j = 0; j < n; j++) {
        float v = ld1(x[j], bf);
        bad |= v != v;
        m = v > m ? v : m;
    }
    if (bad || isinf(m)) {
        for (j = 0; j < n; j++) y[j] = 0x7fff;
        return;
    }
    const __m256 M = _mm256_set1_ps(m);
    __m256 sv = _mm256_setzero_ps();
    for (j = 0; j < peel; j++) s += expf(ld1(x[j], bf) - m);
    for (; j < end; j += 8) sv = _mm256_add_ps(sv, exp8_normal(_mm256_sub_ps(ld8(x + j, bf), M)));
    for (; j < n; j++) s += expf(ld1(x[j], bf) - m);
    s += hsum(sv);
    const float inv = 1.0f / s;
    for (j = 0; j < peel; j++) y[j] = st1(expf(ld1(x[j], bf) - m) * inv, bf);
    for (; j < end; j += 8)
        _mm_store_si128(
            (__m128i *)(y + j),
            cvt8_quiet(_mm256_mul_ps(exp8_normal(_mm256_sub_ps(ld8(x + j, bf), M)), _mm256_set1_ps(inv)), bf));
    for (; j < n; j++) y[j] = st1(expf(ld1(x[j], bf) - m) * inv, bf);
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y) {
    for (int64_t r = 0; r < rows; r++)
        row((const uint16_t *)x + r * cols, (uint16_t *)y + r * cols, cols, call->dtype == TOKITAI_BF16);
    return 0;
}
