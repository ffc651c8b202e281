/* DECIDES. The clause of exact sums, which gemm, softmax_bwd and embedding_bwd share: sums whose terms are few enough multiples of one power
 * of two are exact in fp32, in whatever order they are added. docs/contracts.md has the proof. */
#pragma once

#include <string.h>

#include "exact/fp32.h"
#include "tokitai.h"

/* So many units are a number of 24 bits; the unit is then at most TKI_EXACT_LARGEST_UNIT, so that nothing overflows. */
#define TKI_EXACT_UNITS 0x1p24
#define TKI_EXACT_LARGEST_UNIT 0x1p103

/* The power of two of the last bit of a number other than zero, infinity and NaN, and not below 2^-969; it is an odd multiple of that. */
static inline double tki_last_bit(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t hidden = UINT64_C(1) << 52;
    const uint64_t exponent = (bits >> 52 & 2047) - 52 + (uint64_t)__builtin_ctzll((bits & (hidden - 1)) | hidden);
    bits = exponent << 52;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Every term is a multiple of `unit`, a power of two or infinite if all are zero; `magnitude` is the sum of their absolute values in double,
 * exact up to 2^53 units, and no less than that beyond. */
static inline bool tki_sum_is_exact(double magnitude, double unit)
{
    return magnitude == 0 || (magnitude <= TKI_EXACT_UNITS * unit && unit >= TKI_FP32_SMALLEST_NORMAL &&
                              unit <= TKI_EXACT_LARGEST_UNIT);
}
