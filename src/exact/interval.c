/* DECIDES. Interval arithmetic by directed rounding. */
#include "exact/interval.h"

#include <math.h>
#include <stdbool.h>

void tki_interval_init(tki_interval *x, int precision)
{
    mpfr_init2(x->lo, precision);
    mpfr_init2(x->hi, precision);
}

void tki_interval_clear(tki_interval *x)
{
    mpfr_clear(x->lo);
    mpfr_clear(x->hi);
}

void tki_interval_set_d(tki_interval *x, double value)
{
    mpfr_set_d(x->lo, value, MPFR_RNDD);
    mpfr_set_d(x->hi, value, MPFR_RNDU);
}

void tki_interval_set_ratio(tki_interval *x, long numerator, unsigned long denominator)
{
    mpfr_set_si(x->lo, numerator, MPFR_RNDD);
    mpfr_set_si(x->hi, numerator, MPFR_RNDU);
    mpfr_div_ui(x->lo, x->lo, denominator, MPFR_RNDD);
    mpfr_div_ui(x->hi, x->hi, denominator, MPFR_RNDU);
}

void tki_interval_set_pi(tki_interval *x)
{
    mpfr_const_pi(x->lo, MPFR_RNDD);
    mpfr_const_pi(x->hi, MPFR_RNDU);
}

void tki_interval_set(tki_interval *x, const tki_interval *a)
{
    mpfr_set(x->lo, a->lo, MPFR_RNDD);
    mpfr_set(x->hi, a->hi, MPFR_RNDU);
}

void tki_interval_neg(tki_interval *x, const tki_interval *a)
{
    if (x == a) {
        mpfr_swap(x->lo, x->hi);
        mpfr_neg(x->lo, x->lo, MPFR_RNDD);
        mpfr_neg(x->hi, x->hi, MPFR_RNDU);
    } else {
        mpfr_neg(x->lo, a->hi, MPFR_RNDD);
        mpfr_neg(x->hi, a->lo, MPFR_RNDU);
    }
}

void tki_interval_add(tki_interval *x, const tki_interval *a, const tki_interval *b)
{
    mpfr_add(x->lo, a->lo, b->lo, MPFR_RNDD);
    mpfr_add(x->hi, a->hi, b->hi, MPFR_RNDU);
}

void tki_interval_sub(tki_interval *x, const tki_interval *a, const tki_interval *b)
{
    /* x may be a or b: both endpoints are read before either is written. */
    mpfr_t lo;
    mpfr_init2(lo, mpfr_get_prec(x->lo));
    mpfr_sub(lo, a->lo, b->hi, MPFR_RNDD);
    mpfr_sub(x->hi, a->hi, b->lo, MPFR_RNDU);
    mpfr_swap(x->lo, lo);
    mpfr_clear(lo);
}

void tki_interval_add_d(tki_interval *x, const tki_interval *a, double b)
{
    mpfr_add_d(x->lo, a->lo, b, MPFR_RNDD);
    mpfr_add_d(x->hi, a->hi, b, MPFR_RNDU);
}

/* -1, 0 or 1: whether all of the interval is at most zero, at least zero, or it has both; of numbers. */
static int side_of(const tki_interval *a)
{
    return mpfr_sgn(a->lo) >= 0 ? 1 : mpfr_sgn(a->hi) <= 0 ? -1 : 0;
}

static bool has_numbers(const tki_interval *a)
{
    return mpfr_number_p(a->lo) && mpfr_number_p(a->hi);
}

/* Of a factor that has one sign the ends of the product are known beforehand. */
static void multiply_by_side(tki_interval *x, const tki_interval *a, int side, const tki_interval *b)
{
    mpfr_t lo;
    mpfr_srcptr to_lo = side > 0 ? b->lo : b->hi, to_hi = side > 0 ? b->hi : b->lo;
    mpfr_srcptr by_lo = mpfr_sgn(to_lo) < 0 ? a->hi : a->lo, by_hi = mpfr_sgn(to_hi) > 0 ? a->hi : a->lo;
    mpfr_init2(lo, mpfr_get_prec(x->lo));
    mpfr_mul(lo, by_lo, to_lo, MPFR_RNDD);
    mpfr_mul(x->hi, by_hi, to_hi, MPFR_RNDU);
    mpfr_swap(x->lo, lo);
    mpfr_clear(lo);
}

void tki_interval_mul(tki_interval *x, const tki_interval *a, const tki_interval *b)
{
    if (has_numbers(a) && has_numbers(b)) {
        const int of_a = side_of(a), of_b = side_of(b);
        if (of_a || of_b) {
            multiply_by_side(x, of_a ? a : b, of_a ? of_a : of_b, of_a ? b : a);
            return;
        }
    }
    mpfr_prec_t precision = mpfr_get_prec(x->lo);
    mpfr_t lo;
    mpfr_t hi;
    mpfr_t product;
    mpfr_inits2(precision, lo, hi, product, (mpfr_ptr)0);
    mpfr_mul(lo, a->lo, b->lo, MPFR_RNDD);
    mpfr_mul(hi, a->lo, b->lo, MPFR_RNDU);
    const struct {
        mpfr_srcptr a, b;
    } corner[3] = {{a->lo, b->hi}, {a->hi, b->lo}, {a->hi, b->hi}};
    for (int i = 0; i < 3; i++) {
        mpfr_mul(product, corner[i].a, corner[i].b, MPFR_RNDD);
        mpfr_min(lo, lo, product, MPFR_RNDD);
        mpfr_mul(product, corner[i].a, corner[i].b, MPFR_RNDU);
        mpfr_max(hi, hi, product, MPFR_RNDU);
    }
    mpfr_swap(x->lo, lo);
    mpfr_swap(x->hi, hi);
    mpfr_clears(lo, hi, product, (mpfr_ptr)0);
}

void tki_interval_mul_d(tki_interval *x, const tki_interval *a, double b)
{
    if (b < 0) {
        tki_interval_neg(x, a);
        b = -b;
    } else if (x != a) {
        tki_interval_set(x, a);
    }
    mpfr_mul_d(x->lo, x->lo, b, MPFR_RNDD);
    mpfr_mul_d(x->hi, x->hi, b, MPFR_RNDU);
}

void tki_interval_div(tki_interval *x, const tki_interval *a, const tki_interval *b)
{
    tki_interval inverse;
    tki_interval_init(&inverse, (int)mpfr_get_prec(x->lo));
    mpfr_ui_div(inverse.lo, 1, b->hi, MPFR_RNDD);
    mpfr_ui_div(inverse.hi, 1, b->lo, MPFR_RNDU);
    tki_interval_mul(x, a, &inverse);
    tki_interval_clear(&inverse);
}

void tki_interval_sqrt(tki_interval *x, const tki_interval *a)
{
    mpfr_sqrt(x->lo, a->lo, MPFR_RNDD);
    mpfr_sqrt(x->hi, a->hi, MPFR_RNDU);
}

void tki_interval_exp(tki_interval *x, const tki_interval *a)
{
    mpfr_exp(x->lo, a->lo, MPFR_RNDD);
    mpfr_exp(x->hi, a->hi, MPFR_RNDU);
}

void tki_interval_log1p(tki_interval *x, const tki_interval *a)
{
    mpfr_log1p(x->lo, a->lo, MPFR_RNDD);
    mpfr_log1p(x->hi, a->hi, MPFR_RNDU);
}

void tki_interval_get(const tki_interval *x, int precision, mpfr_ptr lo, mpfr_ptr hi)
{
    mpfr_set_prec(lo, precision);
    mpfr_set_prec(hi, precision);
    mpfr_set(lo, x->lo, MPFR_RNDD);
    mpfr_set(hi, x->hi, MPFR_RNDU);
}

double tki_interval_low(const tki_interval *x)
{
    return mpfr_get_d(x->lo, MPFR_RNDD);
}

double tki_interval_high(const tki_interval *x)
{
    return mpfr_get_d(x->hi, MPFR_RNDU);
}

double tki_interval_magnitude(const tki_interval *x)
{
    return fmax(fabs(tki_interval_low(x)), fabs(tki_interval_high(x)));
}
