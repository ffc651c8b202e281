/* TRUSTED. The 16-bit formats and fp32 by definition. One description serves all three: a magnitude pattern with
 * exponent field E and fraction F stands for (2^(p-1) + F) 2^(E-1) units, or F units where E = 0, and one unit is
 * the smallest subnormal. Patterns in increasing order are the values in increasing order, and the first pattern
 * after the largest finite value, that of infinity, sits where the next power of two would. */
#include "exact/round.h"

#include <math.h>
#include <string.h>

typedef struct format {
    int precision;    /* p, significand bits with the hidden one */
    int exponent_min; /* emin, of the smallest normal number */
    uint32_t sign;
    uint32_t infinity;
} format;

static inline format format_of(tk_dtype dtype)
{
    switch (dtype) {
    case TK_F16: return (format){.precision = 11, .exponent_min = -14, .sign = 0x8000, .infinity = 0x7c00};
    case TK_BF16: return (format){.precision = 8, .exponent_min = -126, .sign = 0x8000, .infinity = 0x7f80};
    default: return (format){.precision = 24, .exponent_min = -126, .sign = 0x80000000, .infinity = 0x7f800000};
    }
}

enum { DOUBLE_FRACTION_BITS = 52, DOUBLE_BIAS = 1023, DOUBLE_SPECIAL = 2047 };
#define DOUBLE_SIGN (UINT64_C(1) << 63)
#define DOUBLE_HIDDEN (UINT64_C(1) << DOUBLE_FRACTION_BITS)

static inline uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int double_exponent_field(double value)
{
    return (int)(double_bits(value) >> DOUBLE_FRACTION_BITS & DOUBLE_SPECIAL);
}

/* 2^exponent, for -1022 <= exponent <= 1023. */
static inline double power_of_two(int exponent)
{
    return double_from_bits((uint64_t)(exponent + DOUBLE_BIAS) << DOUBLE_FRACTION_BITS);
}

static inline uint32_t magnitude_of(format f, uint32_t bits)
{
    return bits & (f.sign - 1);
}

/* The pattern of infinity counts as the power of two after the largest finite number. */
static inline double magnitude_value(format f, uint32_t magnitude)
{
    const int fraction_bits = f.precision - 1;
    const uint32_t hidden = UINT32_C(1) << fraction_bits;
    const uint32_t fraction = magnitude & (hidden - 1);
    const int field = (int)(magnitude >> fraction_bits);
    const uint32_t significand = field == 0 ? fraction : fraction | hidden;
    const int exponent = f.exponent_min + (field == 0 ? 0 : field - 1);
    return (double)significand * power_of_two(exponent - fraction_bits);
}

bool tki_is_nan(tk_dtype dtype, uint32_t bits)
{
    const format f = format_of(dtype);
    return magnitude_of(f, bits) > f.infinity;
}

bool tki_is_infinite(tk_dtype dtype, uint32_t bits)
{
    const format f = format_of(dtype);
    return magnitude_of(f, bits) == f.infinity;
}

bool tki_is_finite(tk_dtype dtype, uint32_t bits)
{
    const format f = format_of(dtype);
    return magnitude_of(f, bits) < f.infinity;
}

double tki_decode(tk_dtype dtype, uint32_t bits)
{
    const format f = format_of(dtype);
    const uint32_t magnitude = magnitude_of(f, bits);
    if (magnitude > f.infinity) return NAN;
    const double value = magnitude == f.infinity ? INFINITY : magnitude_value(f, magnitude);
    return bits & f.sign ? -value : value;
}

uint32_t tki_element_bits(tk_dtype dtype, const void *data, int64_t i)
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

uint32_t tki_round_double(tk_dtype dtype, double value)
{
    const format f = format_of(dtype);
    const uint64_t bits = double_bits(value);
    const uint32_t sign = bits & DOUBLE_SIGN ? f.sign : 0;
    const uint64_t fraction = bits & (DOUBLE_HIDDEN - 1);
    const int field = double_exponent_field(value);
    if (field == DOUBLE_SPECIAL) return fraction != 0 ? tki_canonical_nan(dtype) : sign | f.infinity;

    /* Below half the smallest subnormal; zero and every subnormal double belong here. */
    const int exponent = field - DOUBLE_BIAS;
    if (exponent < f.exponent_min - f.precision) return sign;

    /* |value| = significand 2^(exponent - 52). Dropping bits leaves a multiple of the format's spacing there; from 29
     * to 53 are dropped, since the exponent is at least emin - p. */
    const uint64_t significand = fraction | DOUBLE_HIDDEN;
    const int kept_exponent = exponent > f.exponent_min ? exponent : f.exponent_min;
    const int dropped_bits = kept_exponent - exponent + DOUBLE_FRACTION_BITS + 1 - f.precision;
    const uint64_t kept = significand >> dropped_bits;
    const uint64_t rest = significand & ((UINT64_C(1) << dropped_bits) - 1);
    const uint64_t half = UINT64_C(1) << (dropped_bits - 1);
    const uint64_t round_up = rest > half || (rest == half && (kept & 1) != 0);

    /* The hidden bit of a normal number, and a carry, add one to the exponent field. */
    const uint64_t field_below = (uint64_t)(kept_exponent - f.exponent_min);
    const uint64_t magnitude = (field_below << (f.precision - 1)) + kept + round_up;
    return sign | (magnitude > f.infinity ? f.infinity : (uint32_t)magnitude);
}

uint32_t tki_round_mpfr(tk_dtype dtype, mpfr_srcptr value)
{
    const format f = format_of(dtype);
    if (mpfr_nan_p(value)) return tki_canonical_nan(dtype);
    const uint32_t sign = mpfr_signbit(value) ? f.sign : 0;
    if (mpfr_zero_p(value)) return sign;
    if (mpfr_inf_p(value)) return sign | f.infinity;

    /* MPFR's significand lies in [1/2, 1). Exponents that overflow or vanish in the format go first, so that the
     * rest are normal doubles. The largest exponent is 1 - emin. */
    const mpfr_exp_t exponent = mpfr_get_exp(value) - 1;
    if (exponent > 1 - f.exponent_min) return sign | f.infinity;
    if (exponent < f.exponent_min - f.precision) return sign;

    /* Rounded to odd at 53 bits, at least two more than the format has, a value keeps its place relative to every
     * number and midpoint of the format. */
    const double truncated = mpfr_get_d(value, MPFR_RNDZ);
    const uint64_t inexact = mpfr_cmp_d(value, truncated) != 0;
    return tki_round_double(dtype, double_from_bits(double_bits(truncated) | inexact));
}

void tki_rounding_interval(tk_dtype dtype, uint32_t bits, double *below, double *above)
{
    const format f = format_of(dtype);
    const uint32_t magnitude = magnitude_of(f, bits);
    if (magnitude > f.infinity) {
        *below = *above = NAN;
        return;
    }
    const double value = magnitude_value(f, magnitude);
    const double outer = magnitude == f.infinity ? INFINITY : 0.5 * (value + magnitude_value(f, magnitude + 1));
    const double inner = magnitude == 0 ? -outer : 0.5 * (value + magnitude_value(f, magnitude - 1));
    const bool negative = (bits & f.sign) != 0;
    *below = negative ? -outer : inner;
    *above = negative ? -inner : outer;
}

double tki_ulp(tk_dtype dtype, double value)
{
    const format f = format_of(dtype);
    const int field = double_exponent_field(value);
    if (field == DOUBLE_SPECIAL) return double_from_bits(double_bits(value) & ~DOUBLE_SIGN);
    /* For zero and subnormal doubles this exponent is not theirs, but below emin like theirs. */
    const int exponent = field - DOUBLE_BIAS;
    return power_of_two((exponent > f.exponent_min ? exponent : f.exponent_min) - f.precision + 1);
}

uint32_t tki_canonical_nan(tk_dtype dtype)
{
    const format f = format_of(dtype);
    return f.infinity | UINT32_C(1) << (f.precision - 2);
}

double tki_up(double value)
{
    if (double_exponent_field(value) == DOUBLE_SPECIAL) return value;
    if (value == 0) return double_from_bits(1);
    const uint64_t bits = double_bits(value);
    return double_from_bits(value > 0 ? bits + 1 : bits - 1);
}

double tki_down(double value)
{
    return -tki_up(-value);
}
