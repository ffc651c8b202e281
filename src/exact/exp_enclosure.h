/* DECIDES. exp(-d) in double for any finite double d >= 0, with a derived error, and fast: for oracles of types that have too many patterns
 * for a table of each. d = i + j / 256 + r with |r| <= 1/512; that is exact, exp(-i) and exp(-j / 256) come from tables made with MPFR, and
 * exp(-r) from its Taylor polynomial. Callers have begun with exact/floats.h, which asks for rounding to nearest. */
#pragma once

#include "exact/round.h"
#include "tokitai.h"

/* From TKI_EXP_CUT on, tki_exp_minus() is zero; exp(-704) = 2^-1015.7 is a normal number. */
#define TKI_EXP_CUT 704.0

enum { TKI_EXP_UNITS = 705, TKI_EXP_STEPS = 256 };

typedef struct tki_exp_pieces {
    double unit[TKI_EXP_UNITS]; /* exp(-i), rounded to nearest; [704] for what rounds up to it */
    double step[TKI_EXP_STEPS]; /* exp(-j / 256), rounded to nearest */
} tki_exp_pieces;

/* Tells of a value v of tki_exp_minus(): the exact one lies in [v (1 - E), v (1 + E) + T]. T is only for v = 0; below the cut v is at
 * least 2^-1016 and the exact one in [v (1 - E), v (1 + E)].
 * E: 2^-53 for each of the two tables' entries, for their product and for the last addition. The polynomial's value q is below 2^-8.9: 7
 * roundings of it, the one of t q, and that of r + low, at most 2^-62, make up less than 2^-58. What the Taylor series leaves out is below
 * r^6 / 700 < 2^-63. Products of errors are below 2^-100. Together less than (4 + 1/16) 2^-53. */
#define TKI_EXP_MINUS_ERROR 0x1.1p-51
#define TKI_EXP_MINUS_TINY 0x1p-1015

/* The tables, made when first asked for and kept until the process ends, read-only. */
TK_MUST_USE tk_status tki_exp_pieces_open(const tki_exp_pieces **pieces);

/* exp(-(high + low)), for differences that one double does not hold: low is at most one ulp of `high` in size, and their sum is not
 * negative. 1 where both are zero. An infinite `high` gives 0. NaN is not allowed: it would be an index. */
static inline double tki_exp_minus_sum(const tki_exp_pieces *pieces, double high, double low)
{
    if (!(high < TKI_EXP_CUT))
        return 0;
    const double shift = 0x1.8p52; /* beside it the last bit of a double is 1 */
    const double shifted = high * TKI_EXP_STEPS + shift;
    const uint32_t n = (uint32_t)tki_double_bits(shifted);
    /* n is 0, or n / 256 lies within a factor of 2 of `high`: the difference is exact. */
    const double r = (high - (shifted - shift) * (1.0 / TKI_EXP_STEPS)) + low;
    const double q = -r * (1 - r * (0.5 - r * (1.0 / 6 - r * (1.0 / 24 - r * (1.0 / 120)))));
    const double t = pieces->unit[n / TKI_EXP_STEPS] * pieces->step[n % TKI_EXP_STEPS];
    return t + t * q;
}

static inline double tki_exp_minus(const tki_exp_pieces *pieces, double d)
{
    return tki_exp_minus_sum(pieces, d, 0);
}

typedef struct tki_exp_enclosure {
    double lo,
        hi; /* lo <= exp(-d) <= hi <= 1; hi <= lo (1 + 2^-49) below the cut, [0, TKI_EXP_MINUS_TINY] from there on */
} tki_exp_enclosure;

/* The factors are exact; E and the rounding of a product are together less than 6 times 2^-53. */
static inline tki_exp_enclosure tki_exp_enclose(const tki_exp_pieces *pieces, double d)
{
    const double value = tki_exp_minus(pieces, d);
    const double hi = value * (1 + 0x1.8p-51);
    if (value == 0)
        return (tki_exp_enclosure){.lo = 0, .hi = TKI_EXP_MINUS_TINY};
    return (tki_exp_enclosure){.lo = value * (1 - 0x1.8p-51), .hi = hi < 1 ? hi : 1};
}
