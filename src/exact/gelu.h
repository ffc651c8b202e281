/* DECIDES. gelu and its derivative, exactly: enclosed in double with a derived error, or by MPFR as closely as asked for. Callers have
 * begun with exact/floats.h. */
#pragma once

#include "exact/exp_enclosure.h"
#include "exact/gelu_bound.h"
#include "exact/interval.h"
#include "tokitai.h"

typedef enum tki_gelu_function { TKI_GELU_VALUE, TKI_GELU_DERIVATIVE } tki_gelu_function;

typedef struct tki_gelu_entry {
    double lo, hi; /* encloses y or g' at this x; for x = +-inf its limit */
    double bound;  /* B, or B / |grad_output| */
    double x;
} tki_gelu_entry;

/* In double, at any finite x, with pieces of tki_exp_pieces_open(). */
tki_gelu_entry tki_gelu_in_double(const tki_exp_pieces *pieces, tki_gelu_function f, double x);

/* The limit at an infinite x, or NaN at NaN. */
tki_gelu_entry tki_gelu_limit(double x);

/* At least the largest bound of gelu_fwd within `radius` of x. */
double tki_gelu_bound_near(const tki_exp_pieces *pieces, double x, double radius);

/* Working variables of one evaluation, all of one precision. For x >= 0 the sigmoid of 2z is `large` and what it lacks to one `small`; for
 * -x it is the other way round, and 2z and h change sign. So one evaluation serves both. */
typedef struct tki_gelu_scratch {
    tki_interval two_c, a; /* constants of the formula */
    tki_interval x, two_z, small, large, h;
    tki_interval t; /* the result */
} tki_gelu_scratch;

void tki_gelu_scratch_init(tki_gelu_scratch *s, int precision);
void tki_gelu_scratch_clear(tki_gelu_scratch *s);

/* Fills in two_z, small, large and, for the derivative, h at s->x, which is finite and not negative; nothing cancels. */
void tki_gelu_evaluate(tki_gelu_scratch *s, tki_gelu_function f);

/* Leaves the function's value in s->t, at x or, if `negative`, at -x, where s was evaluated at x. */
void tki_gelu_set_value(tki_gelu_scratch *s, tki_gelu_function f, bool negative);

/* The same as an entry: with the bound at |x|. */
tki_gelu_entry tki_gelu_entry_of(tki_gelu_scratch *s, tki_gelu_function f, double x, bool negative);
