/* UNTRUSTED. Tiles of products of integers, which kernel_cpu.c cuts its matrices into. Five of them:
 *   tile_wide    32 by 32 bits, sums of 64: the parts of split residues
 *   tile_low     32 by 32 bits, sums modulo 2^32: powers of two
 *   tile_whole   64 by 64 bits, sums modulo 2^64: AVX-512
 *   tile_52      52 by 52 bits, sums of the lower and of the upper halves: AVX512-IFMA
 *   tile_52_low  52 by 52 bits, sums of the lower halves: AVX512-IFMA
 * A left panel is [inner][rows], a right one [inner][cols]. Sums are added to what `sums` has. */
#ifndef TKI_OPS_PADIC_KERNEL_CPU_TILE_H
#define TKI_OPS_PADIC_KERNEL_CPU_TILE_H

#include <stdint.h>
#include <string.h>

#include "kernels/cpu_isa.h"

/* LANES 64-bit lanes of a vector. A right panel's 32-bit numbers lie in pairs, one in each half of a lane: column
 * LANES + j lies above column j, so that a shift gives the second vector. */
#if defined(__AVX512F__) && !defined(TKI_ISA_PORTABLE)
#include <immintrin.h>
enum { LANES = 8, WIDE_PAIRS = 2, LOW_VECTORS = 2, ROWS = 6 };
typedef __m512i vec;
#define VEC_LOAD(p) _mm512_loadu_si512(p)
#define VEC_STORE(p, v) _mm512_storeu_si512(p, v)
#define VEC_SET_32(x) _mm512_set1_epi32((int)(x))
#define VEC_MUL_WIDE(a, b) _mm512_mul_epu32(a, b)
#define VEC_MUL_LOW(a, b) _mm512_mullo_epi32(a, b)
#define VEC_ADD_64(a, b) _mm512_add_epi64(a, b)
#define VEC_ADD_32(a, b) _mm512_add_epi32(a, b)
#define VEC_UPPER(a) _mm512_srli_epi64(a, 32)
#elif defined(__AVX2__) && !defined(TKI_ISA_PORTABLE)
#include <immintrin.h>
enum { LANES = 4, WIDE_PAIRS = 1, LOW_VECTORS = 2, ROWS = 6 };
typedef __m256i vec;
#define VEC_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define VEC_STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define VEC_SET_32(x) _mm256_set1_epi32((int)(x))
#define VEC_MUL_WIDE(a, b) _mm256_mul_epu32(a, b)
#define VEC_MUL_LOW(a, b) _mm256_mullo_epi32(a, b)
#define VEC_ADD_64(a, b) _mm256_add_epi64(a, b)
#define VEC_ADD_32(a, b) _mm256_add_epi32(a, b)
#define VEC_UPPER(a) _mm256_srli_epi64(a, 32)
#elif defined(TKI_PADIC_IFMA_MODEL)
enum { LANES = 8, WIDE_PAIRS = 1, LOW_VECTORS = 1, ROWS = 6 };
#define TKI_PADIC_NO_VECTORS
#else
enum { LANES = 2, WIDE_PAIRS = 1, LOW_VECTORS = 1, ROWS = 4 };
#define TKI_PADIC_NO_VECTORS
#endif

enum { WIDE_COLS = 2 * LANES * WIDE_PAIRS, LOW_COLS = 2 * LANES * LOW_VECTORS };

#ifdef TKI_PADIC_NO_VECTORS

TKI_INLINE void tile_wide(int64_t inner, const uint32_t *left, const uint32_t *right, uint64_t *sums)
{
    for (int64_t t = 0; t < inner; t++, left += ROWS, right += WIDE_COLS)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < LANES; j++) {
                sums[i * WIDE_COLS + j] += (uint64_t)left[i] * right[2 * j];
                sums[i * WIDE_COLS + LANES + j] += (uint64_t)left[i] * right[2 * j + 1];
            }
}

TKI_INLINE void tile_low(int64_t inner, const uint32_t *left, const uint32_t *right, uint32_t *sums)
{
    for (int64_t t = 0; t < inner; t++, left += ROWS, right += LOW_COLS)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < LOW_COLS; j++)
                sums[i * LOW_COLS + j] += left[i] * right[j];
}

#else

TKI_INLINE void tile_wide(int64_t inner, const uint32_t *left, const uint32_t *right, uint64_t *sums)
{
    vec s[ROWS][2 * WIDE_PAIRS];
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < 2 * WIDE_PAIRS; v++)
            s[i][v] = VEC_LOAD(sums + i * WIDE_COLS + v * LANES);
    for (int64_t t = 0; t < inner; t++, left += ROWS, right += WIDE_COLS)
#pragma GCC unroll 2
        for (int v = 0; v < WIDE_PAIRS; v++) {
            const vec lower = VEC_LOAD(right + v * 2 * LANES);
            const vec upper = VEC_UPPER(lower);
#pragma GCC unroll 8
            for (int i = 0; i < ROWS; i++) {
                const vec x = VEC_SET_32(left[i]);
                s[i][2 * v] = VEC_ADD_64(s[i][2 * v], VEC_MUL_WIDE(x, lower));
                s[i][2 * v + 1] = VEC_ADD_64(s[i][2 * v + 1], VEC_MUL_WIDE(x, upper));
            }
        }
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < 2 * WIDE_PAIRS; v++)
            VEC_STORE(sums + i * WIDE_COLS + v * LANES, s[i][v]);
}

TKI_INLINE void tile_low(int64_t inner, const uint32_t *left, const uint32_t *right, uint32_t *sums)
{
    vec s[ROWS][LOW_VECTORS];
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < LOW_VECTORS; v++)
            s[i][v] = VEC_LOAD(sums + i * LOW_COLS + v * 2 * LANES);
    for (int64_t t = 0; t < inner; t++, left += ROWS, right += LOW_COLS) {
        vec y[LOW_VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < LOW_VECTORS; v++)
            y[v] = VEC_LOAD(right + v * 2 * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < ROWS; i++) {
            const vec x = VEC_SET_32(left[i]);
#pragma GCC unroll 2
            for (int v = 0; v < LOW_VECTORS; v++)
                s[i][v] = VEC_ADD_32(s[i][v], VEC_MUL_LOW(x, y[v]));
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < LOW_VECTORS; v++)
            VEC_STORE(sums + i * LOW_COLS + v * 2 * LANES, s[i][v]);
}

#endif

/* AVX-512 and AVX512-IFMA. A test defines TKI_PADIC_IFMA_MODEL and has the same tiles over the instructions' definition. */
#if defined(__AVX512DQ__) && !defined(TKI_ISA_PORTABLE)
#define TKI_PADIC_HAS_WHOLE
typedef __m512i vec_8;
#define VEC_8_LOAD(p) _mm512_loadu_si512(p)
#define VEC_8_STORE(p, v) _mm512_storeu_si512(p, v)
#define VEC_8_SET(x) _mm512_set1_epi64((long long)(x))
#define VEC_8_MADD(s, a, b) _mm512_add_epi64(s, _mm512_mullo_epi64(a, b))
#if defined(__AVX512IFMA__)
#define TKI_PADIC_HAS_52
#define VEC_8_MADD_52_LO(s, a, b) _mm512_madd52lo_epu64(s, a, b)
#define VEC_8_MADD_52_HI(s, a, b) _mm512_madd52hi_epu64(s, a, b)
#endif
#elif defined(TKI_PADIC_IFMA_MODEL)
#define TKI_PADIC_HAS_WHOLE
#define TKI_PADIC_HAS_52
typedef struct vec_8 {
    uint64_t lane[8];
} vec_8;

TKI_INLINE vec_8 vec_8_load(const uint64_t *p)
{
    vec_8 v;
    memcpy(v.lane, p, sizeof v.lane);
    return v;
}

TKI_INLINE vec_8 vec_8_set(uint64_t x)
{
    return (vec_8){{x, x, x, x, x, x, x, x}};
}

TKI_INLINE vec_8 vec_8_madd(vec_8 sum, vec_8 a, vec_8 b)
{
    for (int i = 0; i < 8; i++)
        sum.lane[i] += a.lane[i] * b.lane[i];
    return sum;
}

/* The product of the lower 52 bits of both; its lower or upper 52 bits are added, modulo 2^64. */
TKI_INLINE vec_8 vec_8_madd_52(vec_8 sum, vec_8 a, vec_8 b, int upper)
{
    const uint64_t mask = (UINT64_C(1) << 52) - 1;
    for (int i = 0; i < 8; i++) {
        const unsigned __int128 product = (unsigned __int128)(a.lane[i] & mask) * (b.lane[i] & mask);
        sum.lane[i] += (uint64_t)(upper ? product >> 52 : product) & mask;
    }
    return sum;
}
#define VEC_8_LOAD(p) vec_8_load(p)
#define VEC_8_STORE(p, v) memcpy(p, (v).lane, sizeof(v).lane)
#define VEC_8_SET(x) vec_8_set(x)
#define VEC_8_MADD(s, a, b) vec_8_madd(s, a, b)
#define VEC_8_MADD_52_LO(s, a, b) vec_8_madd_52(s, a, b, 0)
#define VEC_8_MADD_52_HI(s, a, b) vec_8_madd_52(s, a, b, 1)
#endif

enum { COLS_52 = 16, WHOLE_COLS = LOW_COLS, WHOLE_VECTORS = WHOLE_COLS / 8 };

#ifdef TKI_PADIC_HAS_WHOLE

/* A tile whose sums are one number each, [ROWS][WHOLE_COLS]. */
#define TKI_PADIC_WHOLE_TILE(name, MADD)                                                                          \
    TKI_INLINE void name(int64_t inner, const uint64_t *left, const uint64_t *right, uint64_t *sums)              \
    {                                                                                                             \
        vec_8 s[ROWS][WHOLE_VECTORS];                                                                             \
        for (int i = 0; i < ROWS; i++)                                                                            \
            for (int v = 0; v < WHOLE_VECTORS; v++)                                                               \
                s[i][v] = VEC_8_LOAD(sums + i * WHOLE_COLS + v * 8);                                              \
        for (int64_t t = 0; t < inner; t++, left += ROWS, right += WHOLE_COLS) {                                  \
            vec_8 y[WHOLE_VECTORS];                                                                               \
            _Pragma("GCC unroll 4") for (int v = 0; v < WHOLE_VECTORS; v++) y[v] = VEC_8_LOAD(right + v * 8);     \
            _Pragma("GCC unroll 6") for (int i = 0; i < ROWS; i++)                                                \
            {                                                                                                     \
                const vec_8 x = VEC_8_SET(left[i]);                                                               \
                _Pragma("GCC unroll 4") for (int v = 0; v < WHOLE_VECTORS; v++) s[i][v] = MADD(s[i][v], x, y[v]); \
            }                                                                                                     \
        }                                                                                                         \
        for (int i = 0; i < ROWS; i++)                                                                            \
            for (int v = 0; v < WHOLE_VECTORS; v++)                                                               \
                VEC_8_STORE(sums + i * WHOLE_COLS + v * 8, s[i][v]);                                              \
    }

TKI_PADIC_WHOLE_TILE(tile_whole, VEC_8_MADD)

#endif

#ifdef TKI_PADIC_HAS_52

TKI_PADIC_WHOLE_TILE(tile_52_low, VEC_8_MADD_52_LO)

/* sums: [2][ROWS][COLS_52], of the lower halves and of the upper ones. */
TKI_INLINE void tile_52(int64_t inner, const uint64_t *left, const uint64_t *right, uint64_t *sums)
{
    vec_8 s[2][ROWS][2];
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < ROWS; i++)
            for (int v = 0; v < 2; v++)
                s[h][i][v] = VEC_8_LOAD(sums + (h * ROWS + i) * COLS_52 + v * 8);
    for (int64_t t = 0; t < inner; t++, left += ROWS, right += COLS_52) {
        const vec_8 y[2] = {VEC_8_LOAD(right), VEC_8_LOAD(right + 8)};
#pragma GCC unroll 6
        for (int i = 0; i < ROWS; i++) {
            const vec_8 x = VEC_8_SET(left[i]);
#pragma GCC unroll 2
            for (int v = 0; v < 2; v++) {
                s[0][i][v] = VEC_8_MADD_52_LO(s[0][i][v], x, y[v]);
                s[1][i][v] = VEC_8_MADD_52_HI(s[1][i][v], x, y[v]);
            }
        }
    }
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < ROWS; i++)
            for (int v = 0; v < 2; v++)
                VEC_8_STORE(sums + (h * ROWS + i) * COLS_52 + v * 8, s[h][i][v]);
}

#endif

#endif
