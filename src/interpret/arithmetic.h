/* DECIDES. The rules of the bound for numbers: what is known of a sum, a product, a quotient, ... of values. docs/definitions.md derives each. */
#pragma once

#include "define/definition.h"
#include "exact/elementary.h"
#include "interpret/value.h"

/* What the rules of a judgement depend on. */
typedef struct tki_rules {
    const tki_elementary *tables;
    bool flushes; /* subnormal numbers become zero */
} tki_rules;

/* t of a rule, on devices that flush as well. */
static inline double tki_underflow(const tki_rules *rules, double t)
{
    return rules->flushes ? TKI_FP32_SMALLEST_NORMAL : t;
}

/* One or both may be infinite or NaN. TKI_ADD to TKI_DIVIDE, TKI_MIN, TKI_MAX. */
tki_value tki_special_binary(const tki_rules *rules, tki_primitive p, const tki_value *a, const tki_value *b);

/* One is a sum, to which the other may be added first; or was normalised. */
tki_value tki_added_to_sum(const tki_rules *rules, const tki_value *a, const tki_value *b);

/* Of what may be infinite or NaN. */
tki_value tki_special_square(const tki_rules *rules, const tki_value *a);

static inline bool tki_both_finite(const tki_value *a, const tki_value *b)
{
    return (a->state | b->state) == TKI_IS_FINITE;
}

static inline tki_value tki_negated(const tki_value *a)
{
    const unsigned infinite = (a->state & TKI_IS_PLUS_INF) << 1 | (a->state & TKI_IS_MINUS_INF) >> 1;
    return (tki_value){.v = -a->v,
                       .d = a->d,
                       .e = a->e,
                       .l = -a->h,
                       .h = -a->l,
                       .state = (a->state & ~(unsigned)TKI_IS_INFINITE) | infinite};
}

static inline tki_value tki_added(const tki_rules *rules, const tki_value *a, const tki_value *b)
{
    if (!tki_both_finite(a, b))
        return tki_special_binary(rules, TKI_ADD, a, b);
    if (a->depth != 0 || b->depth != 0)
        return tki_added_to_sum(rules, a, b);
    const double v = a->v + b->v, least = a->l + b->l, most = a->h + b->h;
    return tki_value_rounded(v, (a->d + b->d + TKI_DOUBLE_UNIT * fabs(v)) * TKI_DOUBLE_SLACK, a->e + b->e, 1,
                             tki_underflow(rules, 0), least - 2 * TKI_U * fabs(least), most + 2 * TKI_U * fabs(most));
}

/* What the factors' errors make of a product, before it is rounded; and how far its value is off here. */
static inline double tki_product_error(const tki_value *a, const tki_value *b)
{
    return tki_value_magnitude(a) * b->e + tki_value_magnitude(b) * a->e + a->e * b->e;
}

static inline double tki_product_radius(const tki_value *a, const tki_value *b, double v)
{
    if (tki_value_is_exact(a) && tki_value_is_exact(b)) /* numbers of fp32 */
        return 0;
    return (fabs(a->v) * b->d + fabs(b->v) * a->d + a->d * b->d + TKI_DOUBLE_UNIT * fabs(v)) * TKI_DOUBLE_SLACK +
           TKI_DOUBLE_TINY;
}

static inline tki_value tki_multiplied(const tki_rules *rules, const tki_value *a, const tki_value *b)
{
    if (!tki_both_finite(a, b))
        return tki_special_binary(rules, TKI_MULTIPLY, a, b);
    if (tki_value_is_zero(a) || tki_value_is_zero(b))
        return tki_value_exactly(0);
    const double v = a->v * b->v;
    const bool positive = (a->l >= 0 && b->l >= 0) || (a->h <= 0 && b->h <= 0);
    const bool negative = (a->l >= 0 && b->h <= 0) || (a->h <= 0 && b->l >= 0);
    tki_value y = tki_value_rounded(v, tki_product_radius(a, b, v), tki_product_error(a, b), 1,
                                    tki_underflow(rules, TKI_FP32_UNDERFLOW), positive ? 0 : -INFINITY,
                                    negative ? 0 : INFINITY);
    y.depth = a->depth == TKI_NORMALISED || b->depth == TKI_NORMALISED ? TKI_NORMALISED : 0;
    return y;
}

/* Of its own, since the errors of two factors alone would let x x fall below zero. */
static inline tki_value tki_squared(const tki_rules *rules, const tki_value *a)
{
    if (a->state != TKI_IS_FINITE)
        return tki_special_square(rules, a);
    const double v = a->v * a->v;
    return tki_value_rounded(v, tki_product_radius(a, a, v), tki_product_error(a, a), 1,
                             tki_underflow(rules, TKI_FP32_UNDERFLOW), 0, INFINITY);
}

tki_value tki_divided(const tki_rules *rules, const tki_value *a, const tki_value *b);
tki_value tki_absolute(const tki_value *a);
tki_value tki_larger(const tki_value *a, const tki_value *b);
tki_value tki_smaller(const tki_value *a, const tki_value *b);
/* a^n, as a product of n factors. */
tki_value tki_raised(const tki_rules *rules, const tki_value *a, int n);
tki_value tki_power(const tki_rules *rules, const tki_value *a, const tki_value *b);
/* To a format of floating point, which belongs to the meaning. */
tki_value tki_cast_to(tk_dtype dtype, const tki_value *a);

/* A number that a kernel gets in fp32, or has in its code: the exact value is within d of v. */
tki_value tki_constant_of(double v, double d);

/* -- Truths -------------------------------------------------------------------------------------------------------- */

/* Whether the exact value may be true, or false; and what a careful evaluation may find. */
enum {
    TKI_TRUE = 1,
    TKI_FALSE = 2,
    TKI_FOUND_TRUE = 4,
    TKI_FOUND_FALSE = 8,
    TKI_NOT_KNOWN = 16,
    TKI_WITH_NAN = 32,
    TKI_OF_NUMBERS = 64 /* of real numbers, which a kernel has to compute before it chooses */
};

unsigned tki_compared(tki_relation relation, const tki_value *a, const tki_value *b);
/* A value with itself. */
unsigned tki_compared_with_itself(tki_relation relation, const tki_value *a);
unsigned tki_both(unsigned a, unsigned b);
tki_value tki_selected(unsigned truth, const tki_value *if_true, const tki_value *if_false);
