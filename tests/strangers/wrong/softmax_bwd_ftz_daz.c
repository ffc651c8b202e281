/* WRONG op=softmax_bwd kind=ftz_daz narrow=yes : runs with flushing of subnormal numbers on (and puts the mode back): bf16 results, products or inputs below 2^-126 become 0 */
#pragma GCC target("avx2,fma,f16c")
#include <immintrin.h>
#include <tokitai_kernel.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static inline __m256 ld8(const uint16_t *p, int bf)
{
    __m128i h = _mm_loadu_si128((const __m128i *)p);
    return bf ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16)) : _mm256_cvtph_ps(h);
}
static inline __m128i pack8(__m256 v, int bf)
{
    if (!bf)
        return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256i b = _mm256_castps_si256(v), lsb = _mm256_and_si256(_mm256_srli_epi32(b, 16), _mm256_set1_epi32(1));
    __m256i r = _mm256_srli_epi32(_mm256_add_epi32(b, _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff))), 16);
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    r = _mm256_blendv_epi8(r, _mm256_or_si256(_mm256_srli_epi32(b, 16), _mm256_set1_epi32(0x40)), nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}
static inline void st8(uint16_t *p, __m256 v, int bf)
{
    _mm_storeu_si128((__m128i *)p, pack8(v, bf));
}
static inline float ld1(uint16_t p, int bf)
{
    return bf ? tokitai_from_bf16(p) : tokitai_from_f16(p);
}
static inline uint16_t st1(float v, int bf)
{
    return bf ? tokitai_to_bf16(v) : tokitai_to_f16(v);
}
static inline float hsum8(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
int tokitai_softmax_bwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *gv, const void *yv,
                        void *ov)
{
    const uint16_t *g = gv, *y = yv;
    uint16_t *o = ov;
    const int bf = call->dtype == TOKITAI_BF16;
    const unsigned csr = _mm_getcsr();
    _mm_setcsr(csr | 0x8040); /* no microcode assists */
    for (int64_t r = 0; r < rows; r++, g += cols, y += cols, o += cols) {
        __m256 acc = _mm256_setzero_ps();
        float s = 0;
        int64_t j = 0;
        for (; j + 8 <= cols; j += 8)
            acc = _mm256_fmadd_ps(ld8(y + j, bf), ld8(g + j, bf), acc);
        for (; j < cols; j++)
            s += ld1(y[j], bf) * ld1(g[j], bf);
        s += hsum8(acc);
        for (j = 0; j + 8 <= cols; j += 8)
            st8(o + j, _mm256_mul_ps(ld8(y + j, bf), _mm256_sub_ps(ld8(g + j, bf), _mm256_set1_ps(s))), bf);
        for (; j < cols; j++)
            o[j] = st1(ld1(y[j], bf) * (ld1(g[j], bf) - s), bf);
    }
    _mm_setcsr(csr);
    return 0;
}
