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

/* The first `count` lanes; the others are zero and their memory is not touched. */
TKI_INLINE vec vec_load_part(const float *source, int count)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), source);
}

TKI_INLINE void vec_store_part(float *target, vec v, int count)
{
    _mm512_mask_storeu_ps(target, (__mmask16)((1u << count) - 1), v);
}

/* Past the caches; the target is aligned to 4 VEC bytes, and vec_stream_end() comes before anyone reads it. */
TKI_INLINE void vec_stream(float *target, vec v)
{
    _mm512_stream_ps(target, v);
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

/* a is NaN ? x : a */
TKI_INLINE vec vec_if_nan(vec a, vec x)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a, x);
}

/* Where 2^n is put together from its exponent, it must be normal even if a 2^n need not be. So vec_lift() gives
 * a 2^(n + lift) instead, with `lift` VEC_LIFT or -VEC_LIFT and n + lift in [-126, 127]. Here scaling has no limits. */
enum { VEC_LIFT = 0 };

/* t = n + f with the integer n that is nearest: f, and in `power` what vec_lift() needs of n and lift */
TKI_INLINE vec vec_nearest(vec t, int lift, vec *power)
{
    (void)lift;
    *power = _mm512_roundscale_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return vec_sub(t, *power);
}

/* a 2^(n + lift), rounded once */
TKI_INLINE vec vec_lift(vec a, vec power)
{
    return _mm512_scalef_ps(a, power);
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

/* Rounds to bf16 in 16-bit lanes, given the upper halves and the lower ones: up where the lower one is more than half,
 * or half beside an odd upper one. NaNs are those of 16-bit inputs or of arithmetic: their lower halves are zero and
 * they stay as they are. */
TKI_INLINE __m512i vec_round_halves(__m512i upper, __m512i lower)
{
    /* bit 15 of (lower + 0x7fff + the lowest bit of upper) / 2 */
    __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi16(1));
    __m512i sum = _mm512_avg_epu16(lower, _mm512_or_si512(odd, _mm512_set1_epi16(0x7ffe)));
    return _mm512_add_epi16(upper, _mm512_srli_epi16(sum, 15));
}

/* The _pair functions: two vectors, one behind the other, cheaper together where the type is bf16. */
TKI_INLINE __m512i vec_pair_to_16(vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F16)
        return _mm512_inserti64x4(_mm512_castsi256_si512(vec_to_16(first, dtype)), vec_to_16(second, dtype), 1);
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i even = _mm512_add_epi32(_mm512_mullo_epi32(lanes, _mm512_set1_epi32(0x00040004)),
                                          _mm512_set1_epi32(0x00020000)); /* 0, 2, 4, ... */
    const __m512i odd = _mm512_add_epi16(even, _mm512_set1_epi16(1));
    __m512i a = _mm512_castps_si512(first);
    __m512i b = _mm512_castps_si512(second);
    return vec_round_halves(_mm512_permutex2var_epi16(a, odd, b), _mm512_permutex2var_epi16(a, even, b));
}

TKI_INLINE void vec_store16_pair(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F16) {
        vec_store16(target, first, dtype);
        vec_store16(target + VEC, second, dtype);
    } else {
        _mm512_storeu_si512(target, vec_pair_to_16(first, second, dtype));
    }
}

/* The target is aligned to 4 VEC bytes. Whole lines at a time stream best. */
TKI_INLINE void vec_stream16_pair(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    _mm512_stream_si512((__m512i *)(void *)target, vec_pair_to_16(first, second, dtype));
}

/* The _mixed functions: pairs in an order of lanes that only these three know, which is cheaper still. */
TKI_INLINE void vec_load16_mixed(const uint16_t *source, vec *first, vec *second, tk_dtype dtype)
{
    if (dtype == TK_F16) {
        *first = vec_load16(source, dtype);
        *second = vec_load16(source + VEC, dtype);
    } else {
        __m512i bits = _mm512_loadu_si512(source);
        *first = _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
        *second = _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32((int32_t)0xffff0000)));
    }
}

/* The first vector goes to the even lanes of 16 bits, the second to the odd ones. */
TKI_INLINE __m512i vec_mixed_to_bf16(vec first, vec second)
{
    const __mmask32 odd = 0xaaaaaaaa;
    __m512i a = _mm512_castps_si512(first);
    __m512i b = _mm512_castps_si512(second);
    return vec_round_halves(_mm512_mask_blend_epi16(odd, _mm512_srli_epi32(a, 16), b),
                            _mm512_mask_blend_epi16(odd, a, _mm512_slli_epi32(b, 16)));
}

TKI_INLINE void vec_store16_mixed(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F16)
        vec_store16_pair(target, first, second, dtype);
    else
        _mm512_storeu_si512(target, vec_mixed_to_bf16(first, second));
}

/* The target is aligned to 4 VEC bytes. */
TKI_INLINE void vec_stream16_mixed(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F16)
        vec_stream16_pair(target, first, second, dtype);
    else
        _mm512_stream_si512((__m512i *)(void *)target, vec_mixed_to_bf16(first, second));
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
