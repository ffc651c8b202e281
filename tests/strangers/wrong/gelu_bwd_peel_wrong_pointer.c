/* WRONG op=gelu_bwd kind=peel_wrong_pointer narrow=yes : peels until x is at a multiple of 16 bytes and then uses aligned stores to grad_input: crashes where the two are not aligned alike (n >= 64) */
#include <tokitai_kernel.h>
#include <math.h>
#include <string.h>
#include <stdlib.h>

#include <immintrin.h>
#define AVX __attribute__((target("avx2,fma,f16c")))

AVX static inline __m256 vexp(__m256 t)
{
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

AVX static inline __m256 vload(const uint16_t *p, int f16)
{
    const __m128i h = _mm_loadu_si128((const __m128i *)p);
    return f16 ? _mm256_cvtph_ps(h) : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

AVX static inline __m128i vpack(__m256 v, int f16)
{
    if (f16)
        return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    const __m256i b = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(b, 16), _mm256_set1_epi32(1));
    __m256i r = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(b, _mm256_set1_epi32(0x7fff)), odd), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    r = _mm256_blendv_epi8(r, _mm256_set1_epi32(0x7fc0), nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}

AVX static inline __m256 vslope(__m256 x)
{
    const __m256 one = _mm256_set1_ps(1.0f), k = _mm256_set1_ps(1.5957691216f), lim = _mm256_set1_ps(16.0f);
    __m256 c = _mm256_min_ps(lim, _mm256_max_ps(_mm256_sub_ps(_mm256_setzero_ps(), lim), x)); /* a NaN in x stays */
    const __m256 q = _mm256_mul_ps(c, c), kc = _mm256_mul_ps(k, c);
    const __m256 t = _mm256_mul_ps(kc, _mm256_fmadd_ps(q, _mm256_set1_ps(0.044715f), one));
    const __m256 h = _mm256_mul_ps(kc, _mm256_fmadd_ps(q, _mm256_set1_ps(0.134145f), one));
    const __m256 s = _mm256_div_ps(one, _mm256_add_ps(one, vexp(_mm256_sub_ps(_mm256_setzero_ps(), t))));
    const __m256 r = _mm256_div_ps(one, _mm256_add_ps(one, vexp(t)));
    return _mm256_mul_ps(s, _mm256_fmadd_ps(r, h, one));
}

AVX static void some(const uint16_t *g, const uint16_t *x, uint16_t *o, int64_t m, int f16)
{
    uint16_t a[8] = {0}, b[8] = {0}, c[8];
    memcpy(a, g, (size_t)m * 2);
    memcpy(b, x, (size_t)m * 2);
    _mm_storeu_si128((__m128i *)c, vpack(_mm256_mul_ps(vload(a, f16), vslope(vload(b, f16))), f16));
    memcpy(o, c, (size_t)m * 2);
}

AVX int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x,
                         void *grad_input)
{
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    if (n >= 64) {
        const int64_t head = (int64_t)((0 - (uintptr_t)in) & 15) / 2;
        some(g, in, out, head, f16);
        for (i = head; i + 8 <= n; i += 8)
            _mm_store_si128((__m128i *)(out + i),
                            vpack(_mm256_mul_ps(vload(g + i, f16), vslope(vload(in + i, f16))), f16));
    }
    for (; i < n; i += 8)
        some(g + i, in + i, out + i, n - i < 8 ? n - i : 8, f16);
    return 0;
}
