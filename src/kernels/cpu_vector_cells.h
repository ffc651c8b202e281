/* UNTRUSTED. Cells: what one lane gives to a sum of products. Where this unit is built for a processor that multiplies
 * bf16 numbers in pairs (AVX-512 BF16), a cell is two neighbouring places of the sum as they are in memory, the earlier
 * in the lower half, and the unit takes bf16 only; elsewhere a cell is one place, converted to fp32. */
#ifndef TKI_KERNELS_CPU_VECTOR_CELLS_H
#define TKI_KERNELS_CPU_VECTOR_CELLS_H

#include <stdbool.h>

#include "kernels/cpu_vector_elements.h"

#if defined(__AVX512BF16__)

enum { CELL = 2 }; /* places in a cell */

/* VEC cells that follow each other along the sum, of which `places` places exist; the others are zero. */
TKI_INLINE vec vec_load_cells(const void *source, const void *end, int places, tk_dtype dtype)
{
    (void)end, (void)dtype;
    __mmask32 there = places >= 2 * VEC ? 0xffffffffu : (1u << places) - 1;
    return _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(there, source));
}

TKI_INLINE __m512i vec_widen_lines(const uint16_t *source, const uint16_t *end, int lines)
{
    __mmask16 there = (__mmask16)(end - source >= VEC ? 0xffff : (1u << lines) - 1);
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, source));
}

/* A cell of each of VEC lines that are neighbours in memory, `lines` of which matter; its places are `inner_stride`
 * apart, and the second is zero where `places` is 1. Nothing from `end` on is read. */
TKI_INLINE vec vec_zip_cells(const void *source, const void *end, int64_t inner_stride, int lines, int places,
                             tk_dtype dtype)
{
    __m512i cells = vec_widen_lines(source, end, lines);
    if (places > 1)
        cells = _mm512_or_si512(
            cells, _mm512_slli_epi32(vec_widen_lines(element_at(source, inner_stride, dtype), end, lines), 16));
    return _mm512_castsi512_ps(cells);
}

/* sum + left right: two fused multiply-adds, the later place first, each rounded to nearest, subnormal numbers on
 * either side taken for zero. So says Intel's manual, and Zen 4 does the same. */
TKI_INLINE vec vec_fma_cells(vec left, vec right, vec sum)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)_mm512_castps_si512(left), (__m512bh)_mm512_castps_si512(right));
}

/* The same with subnormal numbers as they are. */
TKI_INLINE vec vec_fma_cells_gradual(vec left, vec right, vec sum)
{
    const __m512i upper = _mm512_set1_epi32(INT32_MIN >> 15);
    __m512i l = _mm512_castps_si512(left);
    __m512i r = _mm512_castps_si512(right);
    sum = vec_fma(_mm512_castsi512_ps(_mm512_and_si512(l, upper)), _mm512_castsi512_ps(_mm512_and_si512(r, upper)),
                  sum);
    return vec_fma(_mm512_castsi512_ps(_mm512_slli_epi32(l, 16)), _mm512_castsi512_ps(_mm512_slli_epi32(r, 16)), sum);
}

/* The smallest magnitude among numbers other than zero, less 1, in each half of a lane: begin with no numbers, note
 * what is loaded, and ask for the exponent field in the end. */
TKI_INLINE vec vec_smallest_none(void)
{
    return _mm512_castsi512_ps(_mm512_set1_epi32(-1));
}

TKI_INLINE vec vec_smallest(vec smallest, vec cells)
{
    __m512i magnitude = _mm512_and_si512(_mm512_castps_si512(cells), _mm512_set1_epi16(INT16_MAX));
    return _mm512_castsi512_ps(
        _mm512_min_epu16(_mm512_castps_si512(smallest), _mm512_add_epi16(magnitude, _mm512_set1_epi16(-1))));
}

/* 0 for a subnormal number; more than any number has if there is none. */
TKI_INLINE int vec_smallest_exponent(vec smallest)
{
    __m512i all = _mm512_castps_si512(smallest);
    __m256i half = _mm256_min_epu16(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    __m128i quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return (_mm_extract_epi16(_mm_minpos_epu16(quarter), 0) + 1) >> 7;
}

/* Can vec_fma_cells() lose a subnormal number, if the smallest exponent fields are these and sums start at zero? A
 * normal number with the field e is a multiple of 2^(e - 134), so products are multiples of 2^g, g = left + right - 268.
 * So are sums of multiples, and rounding keeps them so: what it drops lies below the last place, and if that is below
 * 2^g the sum was exact. Hence no sum, rounded or not, is nonzero below 2^g, and g >= -126 leaves none to lose. */
TKI_INLINE bool vec_may_lose_subnormals(int left, int right)
{
    return left == 0 || right == 0 || left + right < 142;
}

#else

enum { CELL = 1 };

/* Lanes past `places` or `lines` hold anything. */
TKI_INLINE vec vec_load_cells(const void *source, const void *end, int places, tk_dtype dtype)
{
    return (const char *)end - (const char *)source >= VEC * element_bytes(dtype)
               ? vec_load_elements(source, dtype)
               : vec_load_elements_part(source, places, dtype);
}

TKI_INLINE vec vec_zip_cells(const void *source, const void *end, int64_t inner_stride, int lines, int places,
                             tk_dtype dtype)
{
    (void)inner_stride, (void)places;
    return vec_load_cells(source, end, lines, dtype);
}

TKI_INLINE vec vec_fma_cells(vec left, vec right, vec sum)
{
    return vec_fma(left, right, sum);
}

TKI_INLINE vec vec_fma_cells_gradual(vec left, vec right, vec sum)
{
    return vec_fma(left, right, sum); /* does not run here: only cells of two elements may lose subnormals */
}

TKI_INLINE vec vec_smallest_none(void)
{
    return vec_set(0);
}

TKI_INLINE vec vec_smallest(vec smallest, vec cells)
{
    (void)cells;
    return smallest;
}

TKI_INLINE int vec_smallest_exponent(vec smallest)
{
    (void)smallest;
    return 0;
}

TKI_INLINE bool vec_may_lose_subnormals(int left, int right)
{
    (void)left, (void)right;
    return false;
}

#endif

#endif
