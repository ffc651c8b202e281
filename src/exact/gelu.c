/* DECIDES. gelu and its derivative, by MPFR intervals and in double. */
#include "exact/gelu.h"

#include <math.h>

#include "exact/round.h"

/* -- By MPFR --------------------------------------------------------------------------------------------------- */

enum { INTERVALS = 8 };

static void list(tki_gelu_scratch *s, tki_interval *all[INTERVALS])
{
    tki_interval *const every[INTERVALS] = {&s->two_c, &s->a, &s->x, &s->two_z, &s->small, &s->large, &s->h, &s->t};
    for (int i = 0; i < INTERVALS; i++)
        all[i] = every[i];
}

void tki_gelu_scratch_init(tki_gelu_scratch *s, int precision)
{
    tki_interval *all[INTERVALS];
    list(s, all);
    for (int i = 0; i < INTERVALS; i++)
        tki_interval_init(all[i], precision);
    tki_interval_set_pi(&s->t);
    tki_interval_set_d(&s->two_c, 8);
    tki_interval_div(&s->two_c, &s->two_c, &s->t);
    tki_interval_sqrt(&s->two_c, &s->two_c); /* 2 sqrt(2 / pi) */
    tki_interval_set_ratio(&s->a, 44715, 1000000);
}

void tki_gelu_scratch_clear(tki_gelu_scratch *s)
{
    tki_interval *all[INTERVALS];
    list(s, all);
    for (int i = 0; i < INTERVALS; i++)
        tki_interval_clear(all[i]);
}

/* result = 2 c x (1 + k a x^2), which is 2z for k = 1 and h for k = 3 */
static void set_cubic(const tki_gelu_scratch *s, tki_interval *result, double k)
{
    tki_interval_mul_d(result, &s->a, k);
    tki_interval_mul(result, result, &s->x);
    tki_interval_mul(result, result, &s->x);
    tki_interval_add_d(result, result, 1);
    tki_interval_mul(result, result, &s->two_c);
    tki_interval_mul(result, result, &s->x);
}

void tki_gelu_evaluate(tki_gelu_scratch *s, tki_gelu_function f)
{
    set_cubic(s, &s->two_z, 1);
    tki_interval_neg(&s->t, &s->two_z);
    tki_interval_exp(&s->t, &s->t);
    tki_interval_add_d(&s->small, &s->t, 1);
    tki_interval_set_d(&s->large, 1);
    tki_interval_div(&s->large, &s->large, &s->small);
    tki_interval_mul(&s->small, &s->t, &s->large);
    /* It is at most one half; rounding outward may have gone beyond. */
    if (mpfr_cmp_d(s->small.hi, 0.5) > 0)
        mpfr_set_d(s->small.hi, 0.5, MPFR_RNDU);
    if (f == TKI_GELU_DERIVATIVE)
        set_cubic(s, &s->h, 3);
}

void tki_gelu_set_value(tki_gelu_scratch *s, tki_gelu_function f, bool negative)
{
    const tki_interval *sigma = negative ? &s->small : &s->large;
    const tki_interval *one_minus_sigma = negative ? &s->large : &s->small;
    if (f == TKI_GELU_VALUE) {
        tki_interval_mul(&s->t, sigma, &s->x);
        if (negative)
            tki_interval_neg(&s->t, &s->t);
        return;
    }
    tki_interval_mul(&s->t, one_minus_sigma, &s->h);
    if (negative)
        tki_interval_neg(&s->t, &s->t);
    tki_interval_add_d(&s->t, &s->t, 1);
    tki_interval_mul(&s->t, &s->t, sigma);
}

tki_gelu_entry tki_gelu_entry_of(tki_gelu_scratch *s, tki_gelu_function f, double x, bool negative)
{
    tki_gelu_set_value(s, f, negative);
    tki_gelu_entry e = {.lo = tki_interval_low(&s->t), .hi = tki_interval_high(&s->t), .x = negative ? -x : x};
    double two_z = tki_interval_magnitude(&s->two_z);
    double sigma = tki_interval_high(negative ? &s->small : &s->large);
    double one_minus_sigma = tki_interval_high(negative ? &s->large : &s->small);
    if (f == TKI_GELU_VALUE)
        e.bound = tki_gelu_fwd_bound(x, two_z, one_minus_sigma, fmax(fabs(e.lo), fabs(e.hi)));
    else
        e.bound = tki_gelu_bwd_bound(two_z, sigma, one_minus_sigma, tki_interval_magnitude(&s->h));
    return e;
}

tki_gelu_entry tki_gelu_limit(double x)
{
    double limit = isnan(x) ? x : x > 0 ? 1 : 0;
    return (tki_gelu_entry){.lo = limit, .hi = limit, .bound = 0, .x = x};
}

/* -- In double ------------------------------------------------------------------------------------------------- */

#define ROUNDING 0x1p-53
#define TWO_C 0x1.9884533d43651p+0 /* 2c, rounded to nearest, as the next two */
#define TWO_C_A 0x1.2444f2a4d8b4bp-4
#define SIX_C_A 0x1.b6676bf7450f0p-3

/* What is enclosed at |x|; each value is within its error, relative, of the exact one. */
typedef struct parts {
    double two_z, h;     /* h only for the derivative; within `roundings` and 0.01 */
    double roundings;    /* a constant, 2 products, a sum, and x^2 unless x is a number of fp32 */
    double small, large; /* e / (1 + e) and 1 / (1 + e) for e = exp(-2z) */
    double small_error, large_error;
    double cut; /* what e may be more than it is here: 0, or its size from TKI_EXP_CUT on */
} parts;

/* e has its own error and that of its argument, 2z (1 +- its roundings); of that sum `large` has the share e and `small` at most all. Then
 * each has its own roundings: 2 for `large`, 3 for `small`. */
static parts parts_at(const tki_exp_pieces *pieces, tki_gelu_function f, double x)
{
    parts p = {.two_z = x * (TWO_C + TWO_C_A * (x * x)), .roundings = (double)(float)x == x ? 4 : 5};
    const double e = tki_exp_minus(pieces, p.two_z);
    const double e_error = TKI_EXP_MINUS_ERROR + (p.roundings + 0.02) * ROUNDING * p.two_z;
    p.large = 1 / (1 + e);
    p.small = e * p.large;
    p.large_error = e * e_error + 2.01 * ROUNDING;
    p.small_error = e_error + 3.01 * ROUNDING;
    p.cut = e == 0 ? TKI_EXP_MINUS_TINY : 0;
    if (f == TKI_GELU_DERIVATIVE)
        p.h = x * (TWO_C + SIX_C_A * (x * x));
    return p;
}

static double upper_small(const parts *p)
{
    return p->small * (1 + p->small_error + ROUNDING) + p->cut;
}

static double upper_large(const parts *p)
{
    return p->large * (1 + p->large_error + ROUNDING);
}

/* Upper bounds of what B is made of, at x or, if `negative`, at -x. */
static double bound_in_double(tki_gelu_function f, double x, const parts *p, bool negative, double value)
{
    const double two_z = p->two_z * (1 + 0x1p-50);
    const double small = upper_small(p);
    const double large = upper_large(p);
    const double one_minus_sigma = negative ? large : small;
    if (f == TKI_GELU_VALUE)
        return tki_gelu_fwd_bound(x, two_z, one_minus_sigma, value);
    return tki_gelu_bwd_bound(two_z, negative ? small : large, one_minus_sigma, p->h * (1 + 0x1p-50));
}

/* y = x sigma has 3 roundings beside the error of sigma: the product, and the error's own and its product. */
static tki_gelu_entry value_in_double(const tki_exp_pieces *pieces, double x, bool negative)
{
    const parts p = parts_at(pieces, TKI_GELU_VALUE, x);
    const double y = x * (negative ? p.small : p.large);
    const double error = (negative ? p.small_error : p.large_error) + 4 * ROUNDING;
    const double lo = y * (1 - error);
    const double hi = y * (1 + error) + p.cut * x;
    return (tki_gelu_entry){.lo = negative ? -hi : lo,
                            .hi = negative ? -lo : hi,
                            .bound = bound_in_double(TKI_GELU_VALUE, x, &p, negative, hi),
                            .x = negative ? -x : x};
}

/* g' = sigma (1 + t), t = (1 - sigma) h. The error of t, with the roundings of h and one of the product, is absolute beside the 1, which may
 * cancel; that of sigma is relative, with 3 roundings: the sum, the product, and the last ones below. */
static tki_gelu_entry derivative_in_double(const tki_exp_pieces *pieces, double x, bool negative)
{
    const parts p = parts_at(pieces, TKI_GELU_DERIVATIVE, x);
    const double sigma = negative ? p.small : p.large;
    const double sigma_error = (negative ? p.small_error : p.large_error) + 4 * ROUNDING;
    const double t = (negative ? p.large : p.small) * p.h;
    const double t_error = (negative ? p.large_error : p.small_error) + (p.roundings + 2) * ROUNDING;
    const double value = sigma * (negative ? 1 - t : 1 + t);
    const double error = (sigma * t * t_error + fabs(value) * sigma_error + p.cut * (2 + 2 * p.h)) * (1 + 0x1p-40);
    return (tki_gelu_entry){.lo = value - error,
                            .hi = value + error,
                            .bound = bound_in_double(TKI_GELU_DERIVATIVE, x, &p, negative, 0),
                            .x = negative ? -x : x};
}

tki_gelu_entry tki_gelu_in_double(const tki_exp_pieces *pieces, tki_gelu_function f, double x)
{
    return f == TKI_GELU_VALUE ? value_in_double(pieces, fabs(x), signbit(x))
                               : derivative_in_double(pieces, fabs(x), signbit(x));
}

/* |y| is at most the largest |x| times the largest sigma, which the right end has; |2z| is largest where |x| is, and 1 - sigma at the left
 * end. */
double tki_gelu_bound_near(const tki_exp_pieces *pieces, double x, double radius)
{
    const double left = tki_down(x - radius), right = tki_up(x + radius);
    const double most = fmax(fabs(left), fabs(right));
    const parts at_left = parts_at(pieces, TKI_GELU_VALUE, fabs(left));
    const parts at_right = parts_at(pieces, TKI_GELU_VALUE, fabs(right));
    const double two_z = fmax(at_left.two_z, at_right.two_z) * (1 + 0x1p-50);
    const double sigma = right < 0 ? upper_small(&at_right) : upper_large(&at_right);
    const double one_minus_sigma = left < 0 ? upper_large(&at_left) : upper_small(&at_left);
    return tki_gelu_fwd_bound(most, two_z, one_minus_sigma, most * sigma * (1 + 0x1p-50));
}
