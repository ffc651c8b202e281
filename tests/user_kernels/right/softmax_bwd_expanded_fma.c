/* RIGHT op=softmax_bwd kind=expanded_fma expect=HELD : y g - y s as one FMA in double (inf - inf for y = +inf), vectors of four doubles, overlapping vector at the end of a row */
#pragma GCC target("avx2,fma,f16c")
#include <immintrin.h>
#include "elements.h"
static inline __m256d ld4(const uint16_t *p, int bf) {
    const __m128i h = _mm_loadl_epi64((const __m128i *)p);
    return _mm256_cvtps_pd(bf ? _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(h), 16)) : _mm_cvtph_ps(h));
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov) {
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        __m256d acc = _mm256_setzero_pd();
        double l[4], s = 0;
        int64_t j = 0;
        for (; j + 4 <= cols; j += 4) acc = _mm256_fmadd_pd(ld4(y + j, bf), ld4(g + j, bf), acc);
        for (; j < cols; j++) s += (double)ld1(y[j], bf) * ld1(g[j], bf);
        _mm256_storeu_pd(l, acc);
        s += (l[0] + l[2]) + (l[1] + l[3]);
        const __m256d sv = _mm256_set1_pd(s);
        for (j = 0; j < cols; j += 4) {
            if (j + 4 > cols) {
                if (cols < 4) break;
                j = cols - 4; /* writes some again, the same */
            }
            const __m256d v = ld4(y + j, bf);
            float f[4];
            _mm_storeu_ps(f, _mm256_cvtpd_ps(_mm256_fmsub_pd(v, ld4(g + j, bf), _mm256_mul_pd(v, sv))));
            for (int k = 0; k < 4; k++) o[j + k] = st1(f[k], bf);
        }
        if (cols < 4)
            for (j = 0; j < cols; j++) o[j] = st1((float)fma(ld1(y[j], bf), ld1(g[j], bf), -(ld1(y[j], bf) * s)), bf);
    }
    return 0;
}
