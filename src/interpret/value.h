/* DECIDES. What is known of a number that a definition speaks of, at one point: the exact value, and where a careful evaluation in fp32 lies. */
#pragma once

#include <math.h>

#include "exact/admit.h"
#include "exact/fp32.h"
#include "tokitai.h"

/* What a careful evaluation may give: a finite number, NaN, an infinity; or nothing is known. */
enum {
    TKI_IS_FINITE = 1,
    TKI_IS_NAN = 2,
    TKI_IS_PLUS_INF = 4,
    TKI_IS_MINUS_INF = 8,
    TKI_IS_UNKNOWN = 16,
    TKI_IS_ABSENT =
        32, /* with TKI_IS_FINITE, and zero: a term that may be skipped as well, so that a product with NaN may be either */
    TKI_IS_INFINITE = TKI_IS_PLUS_INF | TKI_IS_MINUS_INF,
    TKI_IS_ANY = TKI_IS_NAN | TKI_IS_INFINITE
};

typedef struct tki_value {
    double v, d;    /* the exact value is within d of v; read only with TKI_IS_FINITE, and then finite */
    double e;       /* a finite evaluation is within e of the exact value */
    double l, h;    /* and in [l, h], which lies in [v - d - e, v + d + e] and has the exact value too */
    double mass;    /* of sums: the sum of |terms| and of their errors */
    int64_t depth;  /* the most roundings that a term of a sum passes through; TKI_NORMALISED; else 0 */
    unsigned state; /* TKI_IS_... */
} tki_value;

/* What `depth` has of a value that was normalised, and of its products. */
enum { TKI_NORMALISED = -1 };

/* Of one evaluation in double: what its errors are multiplied with, so that roundings in reckoning them are paid for, and the least number
 * that products of doubles can lose. */
#define TKI_DOUBLE_UNIT 0x1p-53
#define TKI_DOUBLE_SLACK (1 + 0x1p-48)
#define TKI_DOUBLE_TINY 0x1p-1000
/* From here on a number is infinite to everybody: sums of 2^62 of what is below are doubles. A product of two that is none is found by
 * tki_value_rounded(). */
#define TKI_DOUBLE_END 0x1p960
/* The same of what a function gives. */
#define TKI_FUNCTION_END 0x1p480

/* fmax(a, b) and fmin(a, b) where a is a number: without a call. */
static inline double tki_above(double a, double b)
{
    return b > a ? b : a;
}

static inline double tki_below(double a, double b)
{
    return b < a ? b : a;
}

static inline tki_value tki_value_exactly(double v)
{
    return (tki_value){.v = v, .l = v, .h = v, .state = TKI_IS_FINITE};
}

/* A number of fp32, or what a definition calls infinite, or NaN. */
static inline tki_value tki_value_of_input(double v)
{
    if (isfinite(v))
        return tki_value_exactly(v);
    return (tki_value){.state = isnan(v) ? TKI_IS_NAN : v > 0 ? TKI_IS_PLUS_INF : TKI_IS_MINUS_INF};
}

static inline tki_value tki_value_of_state(unsigned state)
{
    return (tki_value){.state = state};
}

/* At least the absolute value of the exact one. */
static inline double tki_value_magnitude(const tki_value *a)
{
    return fabs(a->v) + a->d;
}

static inline bool tki_value_is_zero(const tki_value *a)
{
    return a->v == 0 && a->d == 0 && a->e == 0;
}

/* The ends of v +- d, rounded outward. */
static inline double tki_value_low(const tki_value *a)
{
    return a->d == 0 ? a->v : a->v - (a->d + 0x1p-52 * (fabs(a->v) + a->d));
}

static inline double tki_value_high(const tki_value *a)
{
    return a->d == 0 ? a->v : a->v + (a->d + 0x1p-52 * (fabs(a->v) + a->d));
}

/* The ends of where the exact value is, by all that is known. */
static inline double tki_value_least(const tki_value *a)
{
    return fmax(tki_value_low(a), a->l);
}

static inline double tki_value_most(const tki_value *a)
{
    return fmin(tki_value_high(a), a->h);
}

/* Nothing was rounded so far: neither by an evaluation nor here. */
static inline bool tki_value_is_exact(const tki_value *a)
{
    return a->d == 0 && a->e == 0;
}

/* round_k(v, E) = E + k u (|v| + E) + t. */
static inline double tki_rounded_error(double v, double d, double e, double k, double t)
{
    return (e + k * TKI_U * (fabs(v) + d + e) + t) * TKI_DOUBLE_SLACK;
}

/* The rule of all that is computed: round_k(v, E), in [least, most] beside that. */
typedef struct tki_rounded {
    double e, l, h;
    bool inside; /* |v| + e is below the end of fp32 */
} tki_rounded;

static inline __attribute__((always_inline)) tki_rounded tki_rounded_of(double v, double d, double e, double k,
                                                                        double t, double least, double most)
{
    const double error = tki_rounded_error(v, d, e, k, t), away = (d + error) * TKI_DOUBLE_SLACK;
    const double some = 0x1p-51 * (fabs(v) + away), roundings = away > 0 ? some : 0;
    return (tki_rounded){.e = error,
                         .l = tki_above(least, v - away - roundings),
                         .h = tki_below(most, v + away + roundings),
                         .inside = fabs(v) + d + error < TKI_FP32_OVERFLOW};
}

/* Where |v| + e reaches the end of fp32, an evaluation may also be infinite, with the sign that it may have, or NaN from there on. */
static inline tki_value tki_value_rounded(double v, double d, double e, double k, double t, double least, double most)
{
    const tki_rounded r = tki_rounded_of(v, d, e, k, t, least, most);
    tki_value y = {.v = v, .d = d, .e = r.e, .l = r.l, .h = r.h, .state = TKI_IS_FINITE};
    if (!r.inside && !(fabs(v) + d < TKI_DOUBLE_END && r.e < INFINITY))
        y.state = TKI_IS_UNKNOWN;
    else if (!r.inside)
        y.state = TKI_IS_FINITE | TKI_IS_NAN | (r.h > 0 ? TKI_IS_PLUS_INF : 0) | (r.l < 0 ? TKI_IS_MINUS_INF : 0);
    return y;
}

/* At least (1 + u)^n - 1: at most exp(n u) - 1, whose series is below that of x + 0.6 x^2 up to 1/4. For n u of any size. */
static inline double tki_growth(double n)
{
    const double x = n * TKI_U;
    if (x <= 0.25)
        return (x + 0.6 * x * x) * TKI_DOUBLE_SLACK;
    double power = 1, factor = 1 + TKI_U;
    for (int64_t k = n < 0x1p40 ? (int64_t)n + 1 : INT64_C(1) << 40; k > 0; k >>= 1, factor *= factor)
        power *= k & 1 ? factor * TKI_DOUBLE_SLACK : 1;
    return power;
}

/* What may be as `a` is or as `b` is. The exact value is that of `a`, if it is finite. */
static inline tki_value tki_value_either(const tki_value *a, const tki_value *b)
{
    tki_value y = a->state & TKI_IS_FINITE ? *a : *b;
    y.state = a->state | b->state;
    if (a->state & b->state & TKI_IS_FINITE) {
        y.l = fmin(a->l, b->l);
        y.h = fmax(a->h, b->h);
        y.e = fmax(a->e, fmax(y.h - (a->v - a->d), (a->v + a->d) - y.l) * TKI_DOUBLE_SLACK);
    }
    return y;
}
