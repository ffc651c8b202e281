/* TRUSTED. The 16-bit formats and fp32 by definition: decoding, correct rounding, rounding intervals.
 * Shares nothing with the conversions that kernels use (core/dtype.h). Here `bits` is an element's pattern in the
 * low bits of a uint32_t, and dtype is TK_F16, TK_BF16 or TK_F32. */
#ifndef TKI_EXACT_ROUND_H
#define TKI_EXACT_ROUND_H

#include <math.h>
#include <string.h>

#include <mpfr.h>

#include "tokitai.h"

/* u, the unit roundoff of fp32: every bound is written with it. */
#define TKI_U 0x1p-24

/* Round to nearest, ties to even. NaN gives the canonical quiet NaN. Infinities stay. */
uint32_t tki_round_double(tk_dtype dtype, double value);
uint32_t tki_round_mpfr(tk_dtype dtype, mpfr_srcptr value);

/* The spacing of the format at |value|: 2^(max(floor(log2|value|), emin) - p + 1). For zero, the smallest subnormal. */
double tki_ulp(tk_dtype dtype, double value);

uint32_t tki_canonical_nan(tk_dtype dtype); /* quiet, positive, no payload: 0x7e00, 0x7fc0, 0x7fc00000 */

/* -- Inline, since the judge passes billions of elements through them ---------------------------------------------- */

typedef struct tki_format {
    int precision;    /* p, significand bits with the hidden one */
    int exponent_min; /* emin, of the smallest normal number */
    uint32_t sign;
    uint32_t infinity;
} tki_format;

static inline tki_format tki_format_of(tk_dtype dtype)
{
    switch (dtype) {
    case TK_F16: return (tki_format){.precision = 11, .exponent_min = -14, .sign = 0x8000, .infinity = 0x7c00};
    case TK_BF16: return (tki_format){.precision = 8, .exponent_min = -126, .sign = 0x8000, .infinity = 0x7f80};
    default: return (tki_format){.precision = 24, .exponent_min = -126, .sign = 0x80000000, .infinity = 0x7f800000};
    }
}

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

/* The pattern of infinity counts as the power of two after the largest finite number. */
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

static inline bool tki_is_nan(tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    return tki_magnitude_of(f, bits) > f.infinity;
}

static inline bool tki_is_infinite(tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    return tki_magnitude_of(f, bits) == f.infinity;
}

static inline bool tki_is_finite(tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    return tki_magnitude_of(f, bits) < f.infinity;
}

/* The number that the pattern stands for, exactly; infinities and NaN as themselves. */
static inline double tki_decode(tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    const uint32_t magnitude = tki_magnitude_of(f, bits);
    if (magnitude > f.infinity)
        return NAN;
    const double value = magnitude == f.infinity ? INFINITY : tki_magnitude_value(f, magnitude);
    return bits & f.sign ? -value : value;
}

/* Element `i` of an array of that type, as its pattern. Works at any alignment of the element type. */
static inline uint32_t tki_element_bits(tk_dtype dtype, const void *data, int64_t i)
{
    if (dtype == TK_F32) {
        uint32_t bits;
        memcpy(&bits, (const char *)data + i * (int64_t)sizeof bits, sizeof bits);
        return bits;
    }
    uint16_t bits;
    memcpy(&bits, (const char *)data + i * (int64_t)sizeof bits, sizeof bits);
    return bits;
}

/* The rounding interval of a non-NaN pattern: every real strictly between *below and *above rounds to it, none
 * outside [*below, *above] does. The bounds are exact. Both zeros have the interval around zero; an infinity's
 * interval is unbounded on its side. */
static inline void tki_rounding_interval(tk_dtype dtype, uint32_t bits, double *below, double *above)
{
    const tki_format f = tki_format_of(dtype);
    const uint32_t magnitude = tki_magnitude_of(f, bits);
    if (magnitude > f.infinity) {
        *below = *above = NAN;
        return;
    }
    const double value = tki_magnitude_value(f, magnitude);
    const double outer = magnitude == f.infinity ? INFINITY : 0.5 * (value + tki_magnitude_value(f, magnitude + 1));
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

#endif
