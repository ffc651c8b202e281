/* DECIDES. Intervals of reals with MPFR endpoints, rounded outward: what an oracle refines with. */
#pragma once

#include <mpfr.h>

typedef struct tki_interval {
    mpfr_t lo, hi;
} tki_interval;

void tki_interval_init(tki_interval *x, int precision);
void tki_interval_clear(tki_interval *x);

/* In all of these the result may be one of the operands. */
void tki_interval_set_d(tki_interval *x, double value);
void tki_interval_set_ratio(tki_interval *x, long numerator, unsigned long denominator);
void tki_interval_set_pi(tki_interval *x);
void tki_interval_set(tki_interval *x, const tki_interval *a);
void tki_interval_neg(tki_interval *x, const tki_interval *a);
void tki_interval_add(tki_interval *x, const tki_interval *a, const tki_interval *b);
void tki_interval_sub(tki_interval *x, const tki_interval *a, const tki_interval *b);
void tki_interval_add_d(tki_interval *x, const tki_interval *a, double b);
void tki_interval_mul(tki_interval *x, const tki_interval *a, const tki_interval *b);
void tki_interval_mul_d(tki_interval *x, const tki_interval *a, double b);
void tki_interval_div(tki_interval *x, const tki_interval *a, const tki_interval *b); /* b does not contain zero */
void tki_interval_sqrt(tki_interval *x, const tki_interval *a);                       /* a >= 0 */
void tki_interval_exp(tki_interval *x, const tki_interval *a);
void tki_interval_log1p(tki_interval *x, const tki_interval *a); /* a > -1 */

/* Numbers of that precision that enclose it. */
void tki_interval_get(const tki_interval *x, int precision, mpfr_ptr lo, mpfr_ptr hi);

/* Doubles that enclose it. */
double tki_interval_low(const tki_interval *x);
double tki_interval_high(const tki_interval *x);
double tki_interval_magnitude(const tki_interval *x); /* at least the absolute value of every member */
