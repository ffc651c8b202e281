/* The conversions of the vector layer this is compiled for (kernels/cpu_vector.h) against those of core/dtype.h, lane by lane: all 2^16
 * patterns of both 16-bit formats one way, and back from every fp32 number. The bits have to be the same, NaNs included. The functions for pairs
 * of vectors take no NaN whose lower half is not zero.
 *
 *     vector_conversions [STEP]     with STEP, from one block of 2^12 numbers in STEP, a block of every STEP by turns */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cpu_vector.h"

enum { BLOCK = 1 << 12 };

static float widened(uint16_t bits, tk_dtype dtype)
{
    return dtype == TK_F16 ? tki_f16_to_f32(bits) : tki_bf16_to_f32(bits);
}

static uint16_t narrowed(float value, tk_dtype dtype)
{
    return dtype == TK_F16 ? tki_f32_to_f16(value) : tki_f32_to_bf16(value);
}

static bool same_number(float a, float b)
{
    return tki_f32_bits(a) == tki_f32_bits(b) || (a != a && b != b);
}

static long wrong_widenings(tk_dtype dtype)
{
    long wrong = 0;
    for (uint32_t first = 0; first < 65536; first += 2 * VEC) {
        uint16_t bits[2 * VEC];
        float one[2 * VEC];
        vec low, high;
        for (uint32_t i = 0; i < 2 * VEC; i++)
            bits[i] = (uint16_t)(first + i);
        vec_store(one, vec_load16(bits, dtype));
        vec_store(one + VEC, vec_load16(bits + VEC, dtype));
        for (int i = 0; i < 2 * VEC; i++)
            wrong += !same_number(one[i], widened(bits[i], dtype));
        uint16_t back[2 * VEC];
        vec_load16_mixed(bits, &low, &high, dtype);
        vec_store16_mixed(back, low, high, dtype);
        for (int i = 0; i < 2 * VEC; i++)
            wrong += back[i] != bits[i] && widened(bits[i], dtype) == widened(bits[i], dtype);
    }
    return wrong;
}

static long wrong_narrowings(uint32_t first, tk_dtype dtype)
{
    static const uint32_t nan_above = 0x7f800000;
    float x[BLOCK];
    uint16_t expected[BLOCK], one[BLOCK], pair[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++) {
        x[i] = tki_f32_from_bits(first + i);
        expected[i] = narrowed(x[i], dtype);
    }
    for (int i = 0; i < BLOCK; i += VEC)
        vec_store16(one + i, vec_load(x + i), dtype);
    for (int i = 0; i < BLOCK; i += 2 * VEC)
        vec_store16_pair(pair + i, vec_load(x + i), vec_load(x + i + VEC), dtype);
    long wrong = 0;
    const bool has_nan = (first & 0x7fffffff) + BLOCK - 1 > nan_above;
    for (int i = 0; i < BLOCK; i++)
        wrong += one[i] != expected[i] || (!has_nan && pair[i] != expected[i]);
    return wrong;
}

int main(int count, char **arguments)
{
    const int64_t step = count > 1 ? atoll(arguments[1]) : 1, blocks = (INT64_C(1) << 32) / BLOCK;
    static const tk_dtype dtypes[] = {TK_F16, TK_BF16};
    static const char *const names[] = {"fp16", "bf16"};
    long all_wrong = 0;
    for (int d = 0; d < 2; d++) {
        long wrong = wrong_widenings(dtypes[d]);
        int64_t taken = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : wrong, taken)
        for (int64_t group = 0; group < blocks / step; group++) {
            wrong += wrong_narrowings((uint32_t)((group * step + group % step) * BLOCK), dtypes[d]);
            taken += BLOCK;
        }
        printf("%s, %d lanes: 65536 patterns, %lld numbers of fp32: %ld differ\n", names[d], (int)VEC,
               (long long)taken, wrong);
        all_wrong += wrong;
    }
    return all_wrong != 0;
}
