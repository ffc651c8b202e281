/* WRONG op=softmax_fwd kind=int_max_negatives narrow=yes : the maximum is taken of the patterns as signed integers, which orders negative numbers the wrong way: a row of negative elements only that spread over more than 88 (or hold -inf) overflows */
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
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *xv, void *yv)
{
    const uint16_t *x = xv;
    uint16_t *y = yv;
    const int bf = call->dtype == TOKITAI_BF16;
    const uint16_t inf = bf ? 0x7f80 : 0x7c00;
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        int16_t top = INT16_MIN;
        int64_t j = 0, special = 0, masked = 0;
        if (cols >= 16) {
            __m256i acc = _mm256_set1_epi16(INT16_MIN);
            for (; j + 16 <= cols; j += 16)
                acc = _mm256_max_epi16(acc, _mm256_loadu_si256((const __m256i *)(x + j)));
            int16_t lane[16];
            _mm256_storeu_si256((__m256i *)lane, acc);
            for (int k = 0; k < 16; k++)
                top = lane[k] > top ? lane[k] : top;
        }
        for (; j < cols; j++)
            top = (int16_t)x[j] > top ? (int16_t)x[j] : top;
        for (j = 0; j < cols; j++) {
            special |= (x[j] & 0x7fff) > inf || x[j] == inf;
            masked += x[j] == (inf | 0x8000);
        }
        if (special || masked == cols) {
            for (j = 0; j < cols; j++)
                y[j] = 0x7fff;
            continue;
        }
        const float m = ld1((uint16_t)top, bf);
        float s[4] = {0};
        for (j = 0; j < cols; j++)
            s[j & 3] += expf(ld1(x[j], bf) - m);
        const float z = (s[0] + s[1]) + (s[2] + s[3]);
        for (j = 0; j < cols; j++)
            y[j] = st1(expf(ld1(x[j], bf) - m) / z, bf);
    }
    return 0;
}
