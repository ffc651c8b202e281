/* WRONG op=softmax_bwd kind=row_pair_odd narrow=yes expect=REFUTED : cols == 64 has a path of its own, two rows at a time; with an odd number of rows the last one is not written */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
static void pair64(const uint16_t *g, const uint16_t *y, uint16_t *o, int bf) {
    __m256 a = _mm256_setzero_ps(), b = a;
    for (int j = 0; j < 64; j += 8) {
        a = _mm256_fmadd_ps(ld8(g + j, bf), ld8(y + j, bf), a);
        b = _mm256_fmadd_ps(ld8(g + 64 + j, bf), ld8(y + 64 + j, bf), b);
    }
    const __m256 s0 = _mm256_set1_ps(hsum(a)), s1 = _mm256_set1_ps(hsum(b));
    for (int j = 0; j < 64; j += 8) {
        st8(o + j, _mm256_mul_ps(ld8(y + j, bf), _mm256_sub_ps(ld8(g + j, bf), s0)), bf);
        st8(o + 64 + j, _mm256_mul_ps(ld8(y + 64 + j, bf), _mm256_sub_ps(ld8(g + 64 + j, bf), s1)), bf);
    }
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    if (cols == 64) {
        for (int64_t p = 0; p < rows / 2; p++) pair64(g + p * 128, y + p * 128, o + p * 128, bf);
        return 0;
    }
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        float s = 0;
        for (int64_t j = 0; j < cols; j++) s += ld1(y[j], bf) * ld1(g[j], bf);
        for (int64_t j = 0; j < cols; j++) o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
    return 0;
}
