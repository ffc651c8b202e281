/* Eight elements at a time: loads, stores, exp, sums, GELU. Authors differ in the range of their exp and in the NaN that they store. */
#ifndef STRANGERS_AVX2_H
#define STRANGERS_AVX2_H
#include <immintrin.h>
#include "kernel.h"
#define AVX2 __attribute__((target("avx2,f16c,fma")))
AVX2 static inline __m256 load8(const uint16_t *p, int f16) {
    const __m128i h = _mm_loadu_si128((const __m128i *)p);
    return f16 ? _mm256_cvtph_ps(h) : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}
AVX2 static inline __m128i pack8(__m256 v, int f16) {
    if (f16) return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    const __m256i b = _mm256_castps_si256(v), high = _mm256_srli_epi32(b, 16);
    const __m256i bias = _mm256_add_epi32(_mm256_set1_epi32(0x7fff), _mm256_and_si256(high, _mm256_set1_epi32(1)));
    const __m256i near = _mm256_srli_epi32(_mm256_add_epi32(b, bias), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i r = _mm256_blendv_epi8(near, _mm256_or_si256(high, _mm256_set1_epi32(0x40)), nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}
AVX2 static inline void store8(uint16_t *p, __m256 v, int f16) { _mm_storeu_si128((__m128i *)p, pack8(v, f16)); }
/* exp, NaN passes through; 0 below -104, infinity above 89. */
AVX2 static inline __m256 exp8(__m256 x) {
    x = _mm256_max_ps(_mm256_set1_ps(-110.0f), _mm256_min_ps(_mm256_set1_ps(100.0f), x));
    const __m256 k = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                                     _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(k, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.9875691500e-4f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3981999507e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3334519073e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1665795894e-2f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666665459e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(5.0000001201e-1f));
    p = _mm256_add_ps(_mm256_fmadd_ps(_mm256_mul_ps(r, r), p, r), _mm256_set1_ps(1.0f));
    const __m256i e = _mm256_cvtps_epi32(k), e1 = _mm256_srai_epi32(e, 1), e2 = _mm256_sub_epi32(e, e1),
                  bias = _mm256_set1_epi32(127);
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e1, bias), 23)));
    return _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e2, bias), 23)));
}
AVX2 static inline float hsum8(__m256 v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}
AVX2 static inline float hmax8(__m256 v) {
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_shuffle_ps(m, m, 1)));
}
AVX2 static inline __m256 gelu8(__m256 x) {
    const __m256 x2 = _mm256_mul_ps(x, x);
    const __m256 q = _mm256_fmadd_ps(_mm256_set1_ps(-0.0713548163f), x2, _mm256_set1_ps(-1.59576912f));
    const __m256 e = exp8(_mm256_mul_ps(x, q));
    return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0f), e));
}
AVX2 static inline __m256 bwd8(__m256 g, __m256 x) {
    const __m256 one = _mm256_set1_ps(1.0f), lowest = _mm256_set1_ps(-INFINITY);
    const __m256 v = _mm256_max_ps(_mm256_set1_ps(-15.0f), _mm256_min_ps(_mm256_set1_ps(15.0f), x)),
                 v2 = _mm256_mul_ps(v, v);
    const __m256 t = _mm256_mul_ps(v,
                                   _mm256_fmadd_ps(_mm256_set1_ps(0.0713548163f), v2, _mm256_set1_ps(1.59576912f)));
    const __m256 h = _mm256_mul_ps(v, _mm256_fmadd_ps(_mm256_set1_ps(0.214064449f), v2, _mm256_set1_ps(1.59576912f)));
    const __m256 s = _mm256_div_ps(one, _mm256_add_ps(one, exp8(_mm256_sub_ps(_mm256_setzero_ps(), t))));
    const __m256 o = _mm256_div_ps(one, _mm256_add_ps(one, exp8(t)));
    const __m256 d = _mm256_mul_ps(s, _mm256_fmadd_ps(o, h, one));
    return _mm256_mul_ps(g, _mm256_or_ps(d, _mm256_cmp_ps(x, lowest, _CMP_EQ_OQ))); /* all ones is a NaN */
}
AVX2 static inline __m256 load8_as(int f16, const uint16_t *p) {
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    return f16 ? _mm256_cvtph_ps(v) : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v), 16));
}
/* e^x for x <= 0, eight at a time: Cody-Waite and a polynomial of degree 6 */
AVX2 static inline __m256 exp8_below_0(__m256 x) {
    x = _mm256_max_ps(_mm256_set1_ps(-104.0f), x);
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), 8);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.3888889e-3f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3333333e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1666667e-2f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666667e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    __m256i k = _mm256_cvtps_epi32(n), h = _mm256_srai_epi32(k, 1); /* 2^n in two halves: subnormals too */
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(h, _mm256_set1_epi32(127)), 23)));
    return _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(
                                _mm256_add_epi32(_mm256_sub_epi32(k, h), _mm256_set1_epi32(127)), 23)));
}
AVX2 static inline __m256 ld8(const uint16_t *p, int bf) {
    __m128i h = _mm_loadu_si128((const __m128i *)p);
    if (bf) return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
    return _mm256_cvtph_ps(h);
}
AVX2 static inline __m128i cvt8(__m256 v, int bf) {
    if (!bf) return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    __m256i u = _mm256_castps_si256(v);
    __m256i lsb = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    __m256i r = _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff))), 16);
    __m256i q = _mm256_or_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(0x40));
    r = _mm256_blendv_epi8(r, q, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}
AVX2 static inline float hsum(__m256 v) {
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    x = _mm_add_ss(x, _mm_movehdup_ps(x));
    return _mm_cvtss_f32(x);
}
AVX2 static inline __m128i cvt8_quiet(__m256 v, int bf) {
    if (!bf) return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256i b = _mm256_castps_si256(v), lsb = _mm256_and_si256(_mm256_srli_epi32(b, 16), _mm256_set1_epi32(1));
    __m256i r = _mm256_srli_epi32(_mm256_add_epi32(b, _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff))), 16);
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    r = _mm256_blendv_epi8(r, _mm256_or_si256(_mm256_srli_epi32(b, 16), _mm256_set1_epi32(0x40)), nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}
static inline void st8(uint16_t *p, __m256 v, int bf) { _mm_storeu_si128((__m128i *)p, cvt8_quiet(v, bf)); }
/* exp for x <= 0, NaN stays NaN */
AVX2 static inline __m256 exp8_normal(__m256 x) {
    const __m256 lo = _mm256_set1_ps(-87.3365f);
    __m256 under = _mm256_cmp_ps(x, lo, _CMP_LT_OQ);
    x = _mm256_max_ps(lo, x);
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.0f / 5040);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 720));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    __m256i e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_andnot_ps(under, _mm256_mul_ps(p, _mm256_castsi256_ps(e)));
}
AVX2 static inline __m256 vexp(__m256 t) {
    const __m256 hi = _mm256_set1_ps(88.7f), lo = _mm256_set1_ps(-87.3f);
    const __m256 big = _mm256_cmp_ps(t, hi, _CMP_GT_OQ), nan = _mm256_cmp_ps(t, t, _CMP_UNORD_Q);
    __m256 c = _mm256_max_ps(_mm256_min_ps(t, hi), lo);
    __m256 k = _mm256_round_ps(_mm256_mul_ps(c, _mm256_set1_ps(1.44269504f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0.693359375f), c);
    r = _mm256_fnmadd_ps(k, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.9841270e-4f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3888889e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3333333e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1666667e-2f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666667e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    __m256i n = _mm256_cvtps_epi32(k);
    __m256i n1 = _mm256_srai_epi32(n, 1), n2 = _mm256_sub_epi32(n, n1);
    const __m256i b = _mm256_set1_epi32(127);
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n1, b), 23)));
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n2, b), 23)));
    p = _mm256_blendv_ps(p, _mm256_set1_ps(INFINITY), big);
    return _mm256_blendv_ps(p, t, nan);
}
AVX2 static inline __m128i vpack(__m256 v, int f16) {
    if (f16) return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    const __m256i b = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(b, 16), _mm256_set1_epi32(1));
    __m256i r = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(b, _mm256_set1_epi32(0x7fff)), odd), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    r = _mm256_blendv_epi8(r, _mm256_set1_epi32(0x7fc0), nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}
AVX2 static inline __m256 vgelu(__m256 x) {
    __m256 q = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(0.044715f), _mm256_set1_ps(1.0f));
    __m256 t = _mm256_mul_ps(_mm256_mul_ps(x, _mm256_set1_ps(-1.5957691216f)), q);
    return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0f), vexp(t)));
}
AVX2 static void vgelu_tail(const uint16_t *x, uint16_t *y, int64_t m, int f16) {
    uint16_t a[8] = {0}, b[8];
    memcpy(a, x, (size_t)m * 2);
    _mm_storeu_si128((__m128i *)b, vpack(vgelu(load8(a, f16)), f16));
    memcpy(y, b, (size_t)m * 2);
}
AVX2 static inline __m256 vslope(__m256 x) {
    const __m256 one = _mm256_set1_ps(1.0f), k = _mm256_set1_ps(1.5957691216f), lim = _mm256_set1_ps(16.0f);
    __m256 c = _mm256_min_ps(lim, _mm256_max_ps(_mm256_sub_ps(_mm256_setzero_ps(), lim), x)); /* a NaN in x stays */
    const __m256 q = _mm256_mul_ps(c, c), kc = _mm256_mul_ps(k, c);
    const __m256 t = _mm256_mul_ps(kc, _mm256_fmadd_ps(q, _mm256_set1_ps(0.044715f), one));
    const __m256 h = _mm256_mul_ps(kc, _mm256_fmadd_ps(q, _mm256_set1_ps(0.134145f), one));
    const __m256 s = _mm256_div_ps(one, _mm256_add_ps(one, vexp(_mm256_sub_ps(_mm256_setzero_ps(), t))));
    const __m256 r = _mm256_div_ps(one, _mm256_add_ps(one, vexp(t)));
    return _mm256_mul_ps(s, _mm256_fmadd_ps(r, h, one));
}
#endif
