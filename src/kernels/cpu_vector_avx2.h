/* UNTRUSTED. Vectors of 8 by AVX2, FMA and F16C. Included by cpu_vector.h alone; cpu_vector_avx512.h says what each
 * function does. */
#include <immintrin.h>

typedef __m256 vec;
enum { VEC = 8, VEC_REGISTERS = 16 };
enum { VEC_FUSED = 1 };

TKI_INLINE vec vec_set(float value)
{
    return _mm256_set1_ps(value);
}

TKI_INLINE vec vec_load(const float *source)
{
    return _mm256_loadu_ps(source);
}

TKI_INLINE void vec_store(float *target, vec v)
{
    _mm256_storeu_ps(target, v);
}

#include "kernels/cpu_vector_parts.h"

TKI_INLINE void vec_stream(float *target, vec v)
{
    _mm256_stream_ps(target, v);
}

TKI_INLINE vec vec_add(vec a, vec b)
{
    return _mm256_add_ps(a, b);
}

TKI_INLINE vec vec_sub(vec a, vec b)
{
    return _mm256_sub_ps(a, b);
}

TKI_INLINE vec vec_mul(vec a, vec b)
{
    return _mm256_mul_ps(a, b);
}

TKI_INLINE vec vec_div(vec a, vec b)
{
    return _mm256_div_ps(a, b);
}

TKI_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}

TKI_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

TKI_INLINE vec vec_max(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}

TKI_INLINE vec vec_min(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}

TKI_INLINE vec vec_if_nan(vec a, vec x)
{
    return _mm256_blendv_ps(a, x, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

enum { VEC_LIFT = 40 };

/* The sum has n + lift + 127 in its lower bits. */
TKI_INLINE vec vec_nearest(vec t, int lift, vec *power)
{
    const vec shift = vec_set(0x1.8p23f + 127.0f + (float)lift);
    vec shifted = vec_add(t, shift);
    *power = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(shifted), 23));
    return vec_sub(t, vec_sub(shifted, shift));
}

TKI_INLINE vec vec_lift(vec a, vec power)
{
    return vec_mul(a, power);
}

/* -191 takes all of the exponent away from 2^64. */
TKI_INLINE vec vec_split(vec s, vec *whole)
{
    vec clamped = vec_max(vec_set(-191.0f), s);
    vec n = _mm256_floor_ps(clamped);
    *whole = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtps_epi32(n), 23));
    return _mm256_sub_ps(clamped, n);
}

TKI_INLINE vec vec_join(vec a, vec whole)
{
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_castps_si256(whole)));
}

TKI_INLINE vec vec_first_of(vec a, int count, vec b)
{
    __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(mask));
}

TKI_INLINE float vec_sum(vec a)
{
    __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    quarter = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)));
}

TKI_INLINE float vec_greatest(vec a)
{
    __m128 quarter = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    quarter = _mm_max_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_max_ss(quarter, _mm_movehdup_ps(quarter)));
}

TKI_INLINE vec vec_from_16(__m128i bits, tk_dtype dtype)
{
    if (dtype == TK_F16)
        return _mm256_cvtph_ps(bits);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

TKI_INLINE __m128i vec_to_16(vec v, tk_dtype dtype)
{
    if (dtype == TK_F16)
        return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256i bits = _mm256_castps_si256(v);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}

TKI_INLINE vec vec_load16(const uint16_t *source, tk_dtype dtype)
{
    return vec_from_16(_mm_loadu_si128((const __m128i *)(const void *)source), dtype);
}

TKI_INLINE vec vec_load16_part(const uint16_t *source, int count, tk_dtype dtype)
{
    uint16_t lanes[VEC] = {0};
    memcpy(lanes, source, (size_t)count * sizeof *lanes);
    return vec_load16(lanes, dtype);
}

TKI_INLINE void vec_store16(uint16_t *target, vec v, tk_dtype dtype)
{
    _mm_storeu_si128((__m128i *)(void *)target, vec_to_16(v, dtype));
}

TKI_INLINE void vec_store16_part(uint16_t *target, vec v, int count, tk_dtype dtype)
{
    uint16_t lanes[VEC];
    vec_store16(lanes, v, dtype);
    memcpy(target, lanes, (size_t)count * sizeof *lanes);
}

TKI_INLINE void vec_stream16(uint16_t *target, vec v, tk_dtype dtype)
{
    _mm_stream_si128((__m128i *)(void *)target, vec_to_16(v, dtype));
}

TKI_INLINE __m256i vec_round_halves(__m256i upper, __m256i lower)
{
    __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi16(1));
    __m256i sum = _mm256_avg_epu16(lower, _mm256_or_si256(odd, _mm256_set1_epi16(0x7ffe)));
    return _mm256_add_epi16(upper, _mm256_srli_epi16(sum, 15));
}

TKI_INLINE __m256i vec_mixed_to_bf16(vec first, vec second)
{
    __m256i a = _mm256_castps_si256(first);
    __m256i b = _mm256_castps_si256(second);
    return vec_round_halves(_mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa),
                            _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa));
}

TKI_INLINE __m256i vec_pair_to_16(vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F16)
        return _mm256_inserti128_si256(_mm256_castsi128_si256(vec_to_16(first, dtype)), vec_to_16(second, dtype), 1);
    const __m256i even_then_odd = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
    __m256i quarters = _mm256_shuffle_epi8(vec_mixed_to_bf16(first, second), even_then_odd);
    return _mm256_permute4x64_epi64(quarters, _MM_SHUFFLE(3, 1, 2, 0));
}

TKI_INLINE void vec_store16_pair(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F16) {
        vec_store16(target, first, dtype);
        vec_store16(target + VEC, second, dtype);
    } else {
        _mm256_storeu_si256((__m256i *)(void *)target, vec_pair_to_16(first, second, dtype));
    }
}

TKI_INLINE void vec_stream16_pair(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    _mm256_stream_si256((__m256i *)(void *)target, vec_pair_to_16(first, second, dtype));
}

TKI_INLINE void vec_load16_mixed(const uint16_t *source, vec *first, vec *second, tk_dtype dtype)
{
    if (dtype == TK_F16) {
        *first = vec_load16(source, dtype);
        *second = vec_load16(source + VEC, dtype);
    } else {
        __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)source);
        *first = _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
        *second = _mm256_castsi256_ps(_mm256_blend_epi16(bits, _mm256_setzero_si256(), 0x55));
    }
}

TKI_INLINE void vec_store16_mixed(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F16)
        vec_store16_pair(target, first, second, dtype);
    else
        _mm256_storeu_si256((__m256i *)(void *)target, vec_mixed_to_bf16(first, second));
}

TKI_INLINE void vec_stream16_mixed(uint16_t *target, vec first, vec second, tk_dtype dtype)
{
    if (dtype == TK_F16)
        vec_stream16_pair(target, first, second, dtype);
    else
        _mm256_stream_si256((__m256i *)(void *)target, vec_mixed_to_bf16(first, second));
}

TKI_INLINE void vec_stream_copy(void *target, const void *source)
{
    _mm256_stream_si256((__m256i *)target, _mm256_loadu_si256((const __m256i *)source));
}

TKI_INLINE void vec_stream_end(void)
{
    _mm_sfence();
}

TKI_INLINE void vec_transpose(vec rows[VEC])
{
    vec pairs[VEC], quads[VEC];
    for (int i = 0; i < VEC; i += 2) {
        pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    }
    /* quads[i + q] holds, in its halves, columns q and q + 4 of rows i to i + 3. */
    for (int i = 0; i < VEC; i += 4)
        for (int half = 0; half < 2; half++) {
            quads[i + 2 * half] = _mm256_shuffle_ps(pairs[i + half], pairs[i + 2 + half], 0x44);
            quads[i + 2 * half + 1] = _mm256_shuffle_ps(pairs[i + half], pairs[i + 2 + half], 0xee);
        }
    for (int q = 0; q < 4; q++) {
        rows[q] = _mm256_permute2f128_ps(quads[q], quads[4 + q], 0x20);
        rows[4 + q] = _mm256_permute2f128_ps(quads[q], quads[4 + q], 0x31);
    }
}
