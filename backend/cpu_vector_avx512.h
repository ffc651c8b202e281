/* UNTRUSTED. Vectors of 16 by AVX-512 F, BW, DQ and VL. Included by cpu_vector.h alone. */
#include <immintrin.h>

typedef __m512 vec;
enum { VEC = 16, VEC_REGISTERS = 32 };
enum { VEC_FUSED = 1 }; /* vec_fma() and vec_fnma() round once */

TKI_INLINE vec vec_set(float value)
{
    return _mm512_set1_ps(value);
}

TKI_INLINE vec vec_load(const float *source)
{
    return _mm512_loadu_ps(source);
}

TKI_INLINE void vec_store(float *target, vec v)
{
    _mm512_storeu_ps(target, v);
}

TKI_INLINE vec vec_add(vec a, vec b)
{
    return _mm512_add_ps(a, b);
}

TKI_INLINE vec vec_sub(vec a, vec b)
{
    return _mm512_sub_ps(a, b);
}

TKI_INLINE vec vec_mul(vec a, vec b)
{
    return _mm512_mul_ps(a, b);
}

TKI_INLINE vec vec_div(vec a, vec b)
{
    return _mm512_div_ps(a, b);
}

/* a b + c */
TKI_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* c - a b */
TKI_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

/* b where either is NaN */
TKI_INLINE vec vec_max(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}

TKI_INLINE vec vec_min(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}

/* -|a|, the sign of a NaN included */
TKI_INLINE vec vec_minus_abs(vec a)
{
    return _mm512_or_ps(a, _mm512_set1_ps(-0.0f));
}

/* a > b ? x : y */
TKI_INLINE vec vec_if_greater(vec a, vec b, vec x, vec y)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), y, x);
}

/* a is NaN ? x : a */
TKI_INLINE vec vec_if_nan(vec a, vec x)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a, x);
}

/* To the nearest integer, ties to even. */
TKI_INLINE vec vec_round(vec a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* a 2^n for integral n, rounded once */
TKI_INLINE vec vec_scale(vec a, vec n)
{
    return _mm512_scalef_ps(a, n);
}

/* a 2^n for integral n, where a in [0.7, 1.5] and the result is normal */
TKI_INLINE vec vec_scale_normal(vec a, vec n)
{
    return vec_scale(a, n);
}

/* s = n + f with an integer n: f, nearly in [0, 1), and in `whole` what vec_join() needs of n. f is an integer for
 * -infinity. */
TKI_INLINE vec vec_split(vec s, vec *whole)
{
    *whole = s;
    return _mm512_reduce_ps(s, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

/* a 2^n for a in [2^64, 2^65] and n <= 1; it may be 0 where that is below 2^-126, and is for -infinity */
TKI_INLINE vec vec_join(vec a, vec whole)
{
    return _mm512_scalef_ps(a, whole);
}

/* The first `count` lanes of a, the others of b. */
TKI_INLINE vec vec_first_of(vec a, int count, vec b)
{
    return _mm512_mask_blend_ps((__mmask16)((1u << count) - 1), b, a);
}

/* Halves onto halves: four additions deep. */
TKI_INLINE float vec_sum(vec a)
{
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    quarter = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)));
}

TKI_INLINE float vec_greatest(vec a)
{
    return _mm512_reduce_max_ps(a);
}

TKI_INLINE vec vec_from_16(__m256i bits, tk_dtype dtype)
{
    if (dtype == TK_F16)
        return _mm512_cvtph_ps(bits);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

TKI_INLINE __m256i vec_to_16(vec v, tk_dtype dtype)
{
    if (dtype == TK_F16)
        return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512i bits = _mm512_castps_si512(v);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
    __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_blend_epi32(nan, rounded, quiet), 16));
}

TKI_INLINE vec vec_load16(const uint16_t *source, tk_dtype dtype)
{
    return vec_from_16(_mm256_loadu_si256((const __m256i *)(const void *)source), dtype);
}

/* The first `count` lanes; the others are zero and their memory is not touched. */
TKI_INLINE vec vec_load16_part(const uint16_t *source, int count, tk_dtype dtype)
{
    return vec_from_16(_mm256_maskz_loadu_epi16((__mmask16)((1u << count) - 1), source), dtype);
}

TKI_INLINE void vec_store16(uint16_t *target, vec v, tk_dtype dtype)
{
    _mm256_storeu_si256((__m256i *)(void *)target, vec_to_16(v, dtype));
}

TKI_INLINE void vec_store16_part(uint16_t *target, vec v, int count, tk_dtype dtype)
{
    _mm256_mask_storeu_epi16(target, (__mmask16)((1u << count) - 1), vec_to_16(v, dtype));
}

/* Past the caches; the target is aligned to 2 VEC bytes, and vec_stream_end() comes before anyone reads it. */
TKI_INLINE void vec_stream16(uint16_t *target, vec v, tk_dtype dtype)
{
    _mm256_stream_si256((__m256i *)(void *)target, vec_to_16(v, dtype));
}

/* The _pair functions: two vectors, one behind the other, cheaper together where the type is bf16. */
TKI_INLINE void vec_load16_pair(const uint16_t *source, vec *first, vec *second, tk_dtype dtype)
{
    if (dtype == TK_F16) {
        *first = vec_load16(source, dtype);
        *second = vec_load16(source + VEC, dtype);
        return;
    }
    const __mmask32 upper = 0xaaaaaaaa;
    const __m512i lanes = _mm512_cvtepu16_epi32(
        _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m512i places = _mm512_or_si512(lanes, _mm512_slli_epi32(lanes, 16));
    const __m512i bits = _mm512_loadu_si512(source);
    *first = _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(upper, places, bits));
    *second = _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi16(upper, _mm512_add_epi16(places, _mm512_set1_epi16(VEC)), bits));
}

/* bf16: rounds in 16-bit lanes, up where the lower half is more than half, or half beside an odd upper one. NaNs are
 * those of 16-bit inputs or of arithmetic: their lower halves are zero and they stay as they are. */
TKI_INLINE __m512i vec_pair_to_16(vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F16)
        return _mm512_inserti64x4(_mm512_castsi256_si512(vec_to_16(first, dtype)), vec_to_16(second, dtype), 1);
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i even = _mm512_add_epi32(_mm512_mullo_epi32(lanes, _mm512_set1_epi32(0x00040004)),
                                          _mm512_set1_epi32(0x00020000)); /* 0, 2, 4, ... */
    const __m512i one = _mm512_set1_epi16(1);
    __m512i a = _mm512_castps_si512(first);
    __m512i b = _mm512_castps_si512(second);
    __m512i lower = _mm512_permutex2var_epi16(a, even, b);
    __m512i upper = _mm512_permutex2var_epi16(a, _mm512_add_epi16(even, one), b);
    __m512i rest = _mm512_adds_epu16(lower, _mm512_and_si512(upper, one));
    __mmask32 up = _mm512_cmpgt_epu16_mask(rest, _mm512_set1_epi16(INT16_MIN));
    return _mm512_mask_add_epi16(upper, up, upper, one);
}

TKI_INLINE void vec_store16_pair(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    _mm512_storeu_si512(target, vec_pair_to_16(first, second, dtype));
}

/* The target is aligned to 4 VEC bytes. Whole lines at a time stream best. */
TKI_INLINE void vec_stream16_pair(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    _mm512_stream_si512((__m512i *)(void *)target, vec_pair_to_16(first, second, dtype));
}

/* 4 VEC bytes as they are, past the caches; the target is aligned to that */
TKI_INLINE void vec_stream_copy(void *target, const void *source)
{
    _mm512_stream_si512((__m512i *)target, _mm512_loadu_si512(source));
}

TKI_INLINE void vec_stream_end(void)
{
    _mm_sfence();
}

/* rows[i] lane j and rows[j] lane i change places. */
TKI_INLINE void vec_transpose(vec rows[VEC])
{
    vec pairs[VEC], quads[VEC], eights[VEC];
    for (int i = 0; i < VEC; i += 2) {
        pairs[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
    }
    /* quads[i + q] holds, in its four quarters, columns q, q + 4, q + 8 and q + 12 of rows i to i + 3. */
    for (int i = 0; i < VEC; i += 4)
        for (int half = 0; half < 2; half++) {
            __m512d upper = _mm512_castps_pd(pairs[i + half]), lower = _mm512_castps_pd(pairs[i + 2 + half]);
            quads[i + 2 * half] = _mm512_castpd_ps(_mm512_unpacklo_pd(upper, lower));
            quads[i + 2 * half + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(upper, lower));
        }
    for (int i = 0; i < VEC; i += 8)
        for (int q = 0; q < 4; q++) {
            eights[i + q] = _mm512_shuffle_f32x4(quads[i + q], quads[i + 4 + q], 0x88);
            eights[i + 4 + q] = _mm512_shuffle_f32x4(quads[i + q], quads[i + 4 + q], 0xdd);
        }
    for (int q = 0; q < 8; q++) {
        rows[q] = _mm512_shuffle_f32x4(eights[q], eights[8 + q], 0x88);
        rows[8 + q] = _mm512_shuffle_f32x4(eights[q], eights[8 + q], 0xdd);
    }
}
