/* WRONG op=softmax_bwd kind=ftz_daz narrow=yes expect=REFUTED : runs with flushing of subnormal numbers on (and puts the mode back): bf16 results, products or inputs below 2^-126 become 0 */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    const unsigned csr = _mm_getcsr();
    _mm_setcsr(csr | 0x8040); /* no microcode assists */
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        __m256 acc = _mm256_setzero_ps();
        float s = 0;
        int64_t j = 0;
        for (; j + 8 <= cols; j += 8) acc = _mm256_fmadd_ps(ld8(y + j, bf), ld8(g + j, bf), acc);
        for (; j < cols; j++) s += ld1(y[j], bf) * ld1(g[j], bf);
        s += hsum(acc);
        for (j = 0; j + 8 <= cols; j += 8)
            st8(o + j, _mm256_mul_ps(ld8(y + j, bf), _mm256_sub_ps(ld8(g + j, bf), _mm256_set1_ps(s))), bf);
        for (; j < cols; j++) o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
    _mm_setcsr(csr);
    return 0;
}
