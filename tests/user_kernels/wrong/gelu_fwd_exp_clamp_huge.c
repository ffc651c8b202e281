/* WRONG op=gelu_fwd kind=exp_clamp_huge narrow=yes expect=REFUTED : exp is clamped to a finite maximum (e^88.37), so x / (1 + e) is not 0 for huge negative x: in bf16 for x below about -1e4, and -inf gives -inf */
#include "avx2.h"
AVX2 static inline __m256 own_vexp(__m256 t) {
    const __m256 hi = _mm256_set1_ps(88.3762626647949f), lo = _mm256_set1_ps(-87.3f);
    const __m256 nan = _mm256_cmp_ps(t, t, _CMP_UNORD_Q);
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
    return _mm256_blendv_ps(p, t, nan);
}
AVX2 static inline __m256 own_vgelu(__m256 x) {
    __m256 q = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(0.044715f), _mm256_set1_ps(1.0f));
    __m256 t = _mm256_mul_ps(_mm256_mul_ps(x, _mm256_set1_ps(-1.5957691216f)), q);
    return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0f), own_vexp(t)));
}
AVX2 static void tail(const uint16_t *x, uint16_t *y, int64_t m, int f16) {
    uint16_t a[8] = {0}, b[8];
    memcpy(a, x, (size_t)m * 2);
    _mm_storeu_si128((__m128i *)b, vpack(own_vgelu(load8(a, f16)), f16));
    memcpy(y, b, (size_t)m * 2);
}
AVX2 int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    const int f16 = call->dtype == TOKITAI_F16;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256 a = own_vgelu(load8(in + i, f16)), b = own_vgelu(load8(in + i + 8, f16));
        _mm_storeu_si128((__m128i *)(out + i), vpack(a, f16));
        _mm_storeu_si128((__m128i *)(out + i + 8), vpack(b, f16));
    }
    for (; i < n; i += 8) tail(in + i, out + i, n - i < 8 ? n - i : 8, f16);
    return 0;
}
