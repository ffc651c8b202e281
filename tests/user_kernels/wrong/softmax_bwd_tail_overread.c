/* WRONG op=softmax_bwd kind=tail_overread narrow=yes expect=REFUTED : the last cols % 8 elements are read as a whole vector and masked afterwards: reads up to 14 bytes past the end of the inputs, which faults where these end with a page */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
static const int32_t mask_src[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16, rest = (int)(cols & 7);
    const int64_t full = cols - rest;
    const __m256 mask = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(mask_src + 8 - rest)));
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        __m256 a = _mm256_setzero_ps();
        for (int64_t j = 0; j < full; j += 8) a = _mm256_fmadd_ps(ld8(g + j, bf), ld8(y + j, bf), a);
        if (rest) a = _mm256_add_ps(a, _mm256_and_ps(mask, _mm256_mul_ps(ld8(g + full, bf), ld8(y + full, bf))));
        const __m256 s = _mm256_set1_ps(hsum(a));
        for (int64_t j = 0; j < full; j += 8)
            st8(o + j, _mm256_mul_ps(ld8(y + j, bf), _mm256_sub_ps(ld8(g + j, bf), s)), bf);
        if (rest) {
            uint16_t tmp[8];
            st8(tmp, _mm256_mul_ps(ld8(y + full, bf), _mm256_sub_ps(ld8(g + full, bf), s)), bf);
            memcpy(o + full, tmp, (size_t)rest * 2);
        }
    }
    return 0;
}
