/* DECIDES. The formats of floating point (model/format.h) by definition: decoding, correct rounding, rounding
 * intervals. Shares nothing with the conversions that kernels use (core/dtype.h). Here `bits` is an element's
 * pattern in the low bits of a uint32_t, and dtype is one of floating point. */
#pragma once

#include <math.h>
#include <string.h>

#include <mpfr.h>

#include "exact/fp32.h"
#include "model/format.h"
#include "tokitai.h"

/* Round to nearest, ties to even. NaN gives the canonical quiet NaN. Infinities stay; a format without them has NaN
 * there, and for what is too large. */
uint32_t tki_round_double(tk_dtype dtype, double value);
uint32_t tki_round_mpfr(tk_dtype dtype, mpfr_srcptr value);

/* The spacing of the format at |value|: 2^(max(floor(log2|value|), emin) - p + 1). For zero, the smallest subnormal. */
double tki_ulp(tk_dtype dtype, double value);

uint32_t tki_canonical_nan(tk_dtype dtype); /* quiet, positive, no payload: 0x7e00, 0x7fc0, 0x7fc00000 */

/* -- Inline, since the judge passes billions of elements through them ---------------------------------------------- */

enum { TKI_DOUBLE_FRACTION_BITS = 52, TKI_DOUBLE_BIAS = 1023, TKI_DOUBLE_SPECIAL = 2047 };
#define TKI_DOUBLE_SIGN (UINT64_C(1) << 63)
#define TKI_DOUBLE_HIDDEN (UINT64_C(1) << TKI_DOUBLE_FRACTION_BITS)

static inline uint64_t tki_double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double tki_double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int tki_double_exponent_field(double value)
{
    return (int)(tki_double_bits(value) >> TKI_DOUBLE_FRACTION_BITS & TKI_DOUBLE_SPECIAL);
}

/* 2^exponent, for -1022 <= exponent <= 1023. */
static inline double tki_exact_power_of_two(int exponent)
{
    return tki_double_from_bits((uint64_t)(exponent + TKI_DOUBLE_BIAS) << TKI_DOUBLE_FRACTION_BITS);
}

static inline uint32_t tki_magnitude_of(tki_format f, uint32_t bits)
{
    return bits & (f.sign - 1);
}

/* The first pattern after the largest finite number, which is none, counts as the number that would follow. */
static inline double tki_magnitude_value(tki_format f, uint32_t magnitude)
{
    const int fraction_bits = f.precision - 1;
    const uint32_t hidden = UINT32_C(1) << fraction_bits;
    const uint32_t fraction = magnitude & (hidden - 1);
    const int field = (int)(magnitude >> fraction_bits);
    const uint32_t significand = field == 0 ? fraction : fraction | hidden;
    const int exponent = f.exponent_min + (field == 0 ? 0 : field - 1);
    return (double)significand * tki_exact_power_of_two(exponent - fraction_bits);
}

/* What is too large for the format: what follows the largest number is infinity, or the NaN of a format without. */
static inline uint32_t tki_overflow_of(tki_format f)
{
    return f.largest + 1;
}

/* tki_round_double() in a format that is at hand. What differs from value to value without a pattern is computed, not branched on. */
static inline uint32_t tki_round_in(tki_format f, double value)
{
    const uint64_t bits = tki_double_bits(value);
    const uint32_t sign = (UINT32_C(0) - (uint32_t)(bits >> 63)) & f.sign;
    const uint64_t fraction = bits & (TKI_DOUBLE_HIDDEN - 1);
    const int field = tki_double_exponent_field(value);
    if (field == TKI_DOUBLE_SPECIAL)
        return fraction != 0 ? f.nan : sign | tki_overflow_of(f);

    /* Below half the smallest subnormal; zero and every subnormal double belong here. */
    const int exponent = field - TKI_DOUBLE_BIAS;
    if (exponent < f.exponent_min - f.precision)
        return sign;

    /* |value| = significand 2^(exponent - 52). Dropping bits leaves a multiple of the format's spacing there; at
     * most 53 are dropped, since the exponent is at least emin - p. Half a spacing is added first, less one where the last bit that is kept
     * is 0: so a tie goes to the even one. */
    const uint64_t significand = fraction | TKI_DOUBLE_HIDDEN;
    const int kept_exponent = exponent > f.exponent_min ? exponent : f.exponent_min;
    const int dropped_bits = kept_exponent - exponent + TKI_DOUBLE_FRACTION_BITS + 1 - f.precision;
    const uint64_t half = UINT64_C(1) << (dropped_bits - 1);
    const uint64_t rounded = (significand + half - 1 + (significand >> dropped_bits & 1)) >> dropped_bits;

    /* The hidden bit of a normal number, and a carry, add one to the exponent field. */
    const uint64_t field_below = (uint64_t)(kept_exponent - f.exponent_min);
    const uint64_t magnitude = (field_below << (f.precision - 1)) + rounded;
    return sign | (magnitude > f.largest ? tki_overflow_of(f) : (uint32_t)magnitude);
}

/* The magnitude of the last pattern that is not NaN. */
static inline uint32_t tki_last_of(tki_format f)
{
    return f.infinity ? f.infinity : f.largest;
}

static inline bool tki_is_nan(tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    return tki_magnitude_of(f, bits) > tki_last_of(f);
}

static inline bool tki_is_infinite(tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    return f.infinity && tki_magnitude_of(f, bits) == f.infinity;
}

static inline bool tki_is_finite(tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    return tki_magnitude_of(f, bits) <= f.largest;
}

/* The number that the pattern stands for, exactly; infinities and NaN as themselves. */
static inline double tki_decode(tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    const uint32_t magnitude = tki_magnitude_of(f, bits);
    if (magnitude > tki_last_of(f))
        return NAN;
    const double value = magnitude > f.largest ? INFINITY : tki_magnitude_value(f, magnitude);
    return bits & f.sign ? -value : value;
}

/* An end of what is admissible: what is too large counts as infinite in formats without infinity, too. */
static inline double tki_decode_end(tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    const uint32_t magnitude = tki_magnitude_of(f, bits);
    const double value = magnitude > f.largest ? INFINITY : tki_magnitude_value(f, magnitude);
    return bits & f.sign ? -value : value;
}

/* Element `i` of an array of that type, as its pattern. Works at any alignment of the element type. Not for 64-bit
 * integers, which do not fit: tki_integer_at() of judge/judge_exact.h reads those. */
static inline uint32_t tki_element_bits(tk_dtype dtype, const void *data, int64_t i)
{
    const int bytes = tki_format_bytes(tki_format_of(dtype));
    const char *element = (const char *)data + i * bytes;
    if (bytes == 4) {
        uint32_t bits;
        memcpy(&bits, element, sizeof bits);
        return bits;
    }
    if (bytes == 1)
        return *(const unsigned char *)element;
    uint16_t bits;
    memcpy(&bits, element, sizeof bits);
    return bits;
}

/* And the way back; what `bits` has above the format's own is cut off. */
static inline void tki_put_bits(tk_dtype dtype, void *data, int64_t i, uint32_t bits)
{
    const int bytes = tki_format_bytes(tki_format_of(dtype));
    char *element = (char *)data + i * bytes;
    const uint16_t half = (uint16_t)bits;
    if (bytes == 4)
        memcpy(element, &bits, sizeof bits);
    else if (bytes == 1)
        *(unsigned char *)element = (unsigned char)bits;
    else
        memcpy(element, &half, sizeof half);
}

/* Element `i` of two arrays: the same bits, all NaNs being equal. */
static inline bool tki_same_elements(tk_dtype dtype, const void *a, const void *b, int64_t i)
{
    const tki_format f = tki_format_of(dtype);
    const int bytes = tki_format_bytes(f);
    if (!memcmp((const char *)a + i * bytes, (const char *)b + i * bytes, (size_t)bytes))
        return true;
    return f.number == TKI_FLOATING && isnan(tki_decode(dtype, tki_element_bits(dtype, a, i))) &&
           isnan(tki_decode(dtype, tki_element_bits(dtype, b, i)));
}

/* The rounding interval of a pattern: every real strictly between *below and *above rounds to it, none outside
 * [*below, *above] does. The bounds are exact. Both zeros have the interval around zero; what follows the largest
 * finite number, an infinity or the NaN of a format without, has one that is unbounded on its side; other NaNs have none. */
static inline void tki_rounding_interval(tk_dtype dtype, uint32_t bits, double *below, double *above)
{
    const tki_format f = tki_format_of(dtype);
    const uint32_t magnitude = tki_magnitude_of(f, bits);
    if (magnitude > f.largest + 1) {
        *below = *above = NAN;
        return;
    }
    const double value = tki_magnitude_value(f, magnitude);
    const double outer = magnitude > f.largest ? INFINITY : 0.5 * (value + tki_magnitude_value(f, magnitude + 1));
    const double inner = magnitude == 0 ? -outer : 0.5 * (value + tki_magnitude_value(f, magnitude - 1));
    const bool negative = (bits & f.sign) != 0;
    *below = negative ? -outer : inner;
    *above = negative ? -inner : outer;
}

/* The next double below and above; infinities and NaN stay. Used to round a double result outward. */
static inline double tki_up(double value)
{
    if (tki_double_exponent_field(value) == TKI_DOUBLE_SPECIAL)
        return value;
    if (value == 0)
        return tki_double_from_bits(1);
    const uint64_t bits = tki_double_bits(value);
    return tki_double_from_bits(value > 0 ? bits + 1 : bits - 1);
}

static inline double tki_down(double value)
{
    return -tki_up(-value);
}
