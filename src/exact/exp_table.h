/* DECIDES. exp of every pattern of a 16-bit type, for oracles that sum exp(x_j - max) over a row. exp(x) itself
 * leaves the range of double, so it is kept as mantissa times 2^exponent, made with MPFR. For |x| > 2^16, which
 * only bf16 has, no exp is kept: there a neighbouring bf16 number is at least 256 away, so every element below the
 * maximum has a ratio below e^-256 < 2^-369. Exponents that lie far apart in the order of x stand for that. */
#pragma once

#include <string.h>

#include "exact/interval.h"
#include "tokitai.h"

/* 16 bytes: oracles look up one of these per element. */
typedef struct tki_exp_entry {
    double mantissa; /* exp(x) = mantissa 2^exponent within 2^-53 (1 + 2^-40) relative; in [1/2, 1), and 0 for -inf */
    int32_t exponent; /* ascending with x */
    float x;          /* the number that the pattern stands for, exactly; take differences in double */
} tki_exp_entry;

/* Tells of a ratio r returned by tki_exp_ratio: the exact one lies in [r (1 - E), r (1 + E) + T], with these E and
 * T. E: 2^-53 (1 + 2^-40) for each mantissa and 2^-53 for the division, together below 4 times 2^-53. T: what is cut to
 * zero lies below 2^-369, or below 2^-512 where an exp is kept. */
#define TKI_EXP_RATIO_ERROR 0x1p-51
#define TKI_EXP_RATIO_TINY 0x1p-360

/* 65536 entries, indexed by pattern, kept until the process ends. Those of NaN and +inf have NaN for mantissa. Of the shape of an
 * oracle's open(). */
TK_MUST_USE tk_status tki_exp_table_open(tk_dtype dtype, void **table);

/* In all of these x <= max, max is finite and x finite or -inf. */

/* exp(x) in units of 2^exponent of the maximum: with the mantissa's relative error, and zero only where the ratio to
 * the maximum is below TKI_EXP_RATIO_TINY. The power of two is exact, since 2^-513 is far from underflow. */
static inline double tki_exp_scaled(const tki_exp_entry *x, const tki_exp_entry *max)
{
    int32_t shift = x->exponent - max->exponent;
    if (shift < -512)
        return 0;
    uint64_t bits = (uint64_t)(1023 + shift) << 52; /* 2^shift */
    double power;
    memcpy(&power, &bits, sizeof power);
    return x->mantissa * power;
}

/* exp(x - max). Exactly 1 for x == max. */
static inline double tki_exp_ratio(const tki_exp_entry *x, const tki_exp_entry *max)
{
    return tki_exp_scaled(x, max) / max->mantissa;
}

/* max - x, rounded to nearest. */
static inline double tki_exp_distance(const tki_exp_entry *x, const tki_exp_entry *max)
{
    return (double)max->x - (double)x->x;
}

/* exp(x - max) as narrow as the result's precision allows; both are fp32 numbers. */
void tki_exp_difference_enclose(tki_interval *result, double x, double max);
