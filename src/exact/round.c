/* DECIDES. The formats of floating point by definition. One description serves all: a magnitude pattern with
 * exponent field E and fraction F stands for (2^(p-1) + F) 2^(E-1) units, or F units where E = 0, and one unit is
 * the smallest subnormal. Patterns in increasing order are the values in increasing order, and the first pattern
 * after the largest finite value, of infinity or NaN, sits where the next value would. */
#include "exact/round.h"

uint32_t tki_round_double(tk_dtype dtype, double value)
{
    return tki_round_in(tki_format_of(dtype), value);
}

uint32_t tki_round_mpfr(tk_dtype dtype, mpfr_srcptr value)
{
    const tki_format f = tki_format_of(dtype);
    if (mpfr_nan_p(value))
        return f.nan;
    const uint32_t sign = mpfr_signbit(value) ? f.sign : 0;
    if (mpfr_zero_p(value))
        return sign;
    if (mpfr_inf_p(value))
        return sign | tki_overflow_of(f);

    /* MPFR's significand lies in [1/2, 1). Exponents that overflow or vanish in the format go first, so that the
     * rest are normal doubles. */
    const mpfr_exp_t exponent = mpfr_get_exp(value) - 1;
    if (exponent > tki_format_exponent_max(f))
        return sign | tki_overflow_of(f);
    if (exponent < f.exponent_min - f.precision)
        return sign;

    /* Rounded to odd at 53 bits, at least two more than the format has, a value keeps its place relative to every
     * number and midpoint of the format. */
    const double truncated = mpfr_get_d(value, MPFR_RNDZ);
    const uint64_t inexact = mpfr_cmp_d(value, truncated) != 0;
    return tki_round_double(dtype, tki_double_from_bits(tki_double_bits(truncated) | inexact));
}

double tki_ulp(tk_dtype dtype, double value)
{
    const tki_format f = tki_format_of(dtype);
    const int field = tki_double_exponent_field(value);
    if (field == TKI_DOUBLE_SPECIAL)
        return tki_double_from_bits(tki_double_bits(value) & ~TKI_DOUBLE_SIGN);
    /* For zero and subnormal doubles this exponent is not theirs, but below emin like theirs. */
    const int exponent = field - TKI_DOUBLE_BIAS;
    return tki_exact_power_of_two((exponent > f.exponent_min ? exponent : f.exponent_min) - f.precision + 1);
}

uint32_t tki_canonical_nan(tk_dtype dtype)
{
    return tki_format_of(dtype).nan;
}
