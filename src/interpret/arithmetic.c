/* DECIDES. The rules for numbers that need more than a few lines, and IEEE arithmetic of infinities. */
#include "interpret/arithmetic.h"

#include "exact/round.h"

/* -- Infinities and NaN -------------------------------------------------------------------------------------------- */

static bool may_be_positive(unsigned class, const tki_value *a)
{
    return class == TKI_IS_PLUS_INF || (class == TKI_IS_FINITE && a->h > 0);
}

static bool may_be_negative(unsigned class, const tki_value *a)
{
    return class == TKI_IS_MINUS_INF || (class == TKI_IS_FINITE && a->l < 0);
}

static bool may_be_zero(unsigned class, const tki_value *a)
{
    return class == TKI_IS_FINITE && a->l <= 0 && a->h >= 0;
}

/* An infinity of the sign that a product or quotient may have. */
static unsigned infinity_by_signs(unsigned of_a, const tki_value *a, unsigned of_b, const tki_value *b)
{
    const bool positive = (may_be_positive(of_a, a) && may_be_positive(of_b, b)) ||
                          (may_be_negative(of_a, a) && may_be_negative(of_b, b));
    const bool negative = (may_be_positive(of_a, a) && may_be_negative(of_b, b)) ||
                          (may_be_negative(of_a, a) && may_be_positive(of_b, b));
    return (positive ? TKI_IS_PLUS_INF : 0) | (negative ? TKI_IS_MINUS_INF : 0);
}

/* What is chosen by its value is no sum any more, to which a kernel might add something first. */
static tki_value chosen(const tki_value *a)
{
    tki_value y = *a;
    y.mass = 0;
    y.depth = 0;
    return y;
}

static tki_value finite_part(const tki_value *a)
{
    tki_value y = *a;
    y.state = TKI_IS_FINITE;
    return y;
}

/* One is infinite, and none is NaN. */
static tki_value of_infinite(tki_primitive p, unsigned of_a, const tki_value *a, unsigned of_b, const tki_value *b)
{
    const bool both = of_a != TKI_IS_FINITE && of_b != TKI_IS_FINITE;
    switch (p) {
    case TKI_ADD: return tki_value_of_state(both && of_a != of_b ? TKI_IS_NAN : of_a != TKI_IS_FINITE ? of_a : of_b);
    case TKI_MULTIPLY:
        return tki_value_of_state(infinity_by_signs(of_a, a, of_b, b) |
                                  (may_be_zero(of_a, a) || may_be_zero(of_b, b) ? TKI_IS_NAN : 0));
    case TKI_DIVIDE:
        if (both)
            return tki_value_of_state(TKI_IS_NAN);
        if (of_b != TKI_IS_FINITE)
            return tki_value_exactly(0);
        return tki_value_of_state(may_be_zero(of_b, b) ? TKI_IS_INFINITE : infinity_by_signs(of_a, a, of_b, b));
    case TKI_MIN:
        if (of_a == TKI_IS_MINUS_INF || of_b == TKI_IS_MINUS_INF)
            return tki_value_of_state(TKI_IS_MINUS_INF);
        break;
    default:
        if (of_a == TKI_IS_PLUS_INF || of_b == TKI_IS_PLUS_INF)
            return tki_value_of_state(TKI_IS_PLUS_INF);
    }
    if (both)
        return tki_value_of_state(of_a);
    tki_value y = chosen(of_a == TKI_IS_FINITE ? a : b);
    y.state = TKI_IS_FINITE;
    return y;
}

static tki_value of_finite(const tki_rules *rules, tki_primitive p, const tki_value *a, const tki_value *b)
{
    switch (p) {
    case TKI_ADD: return tki_added(rules, a, b);
    case TKI_MULTIPLY: return tki_multiplied(rules, a, b);
    case TKI_DIVIDE: return tki_divided(rules, a, b);
    case TKI_MIN: return tki_smaller(a, b);
    default: return tki_larger(a, b);
    }
}

/* A term that is left out; joined with another value it is none. */
static bool is_absent(const tki_value *a)
{
    return (a->state & TKI_IS_ABSENT) && tki_value_is_zero(a);
}

tki_value tki_special_binary(const tki_rules *rules, tki_primitive p, const tki_value *a, const tki_value *b)
{
    tki_value y = tki_value_of_state((a->state | b->state) & (TKI_IS_NAN | TKI_IS_UNKNOWN));
    if (p == TKI_MULTIPLY && (is_absent(a) || is_absent(b))) {
        y = tki_value_exactly(0);
        y.state |= TKI_IS_ABSENT | ((a->state | b->state) & (TKI_IS_ANY | TKI_IS_UNKNOWN) ? TKI_IS_NAN : 0);
        return y;
    }
    const unsigned classes[] = {TKI_IS_FINITE, TKI_IS_PLUS_INF, TKI_IS_MINUS_INF};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            if (!(a->state & classes[i]) || !(b->state & classes[k]))
                continue;
            tki_value part;
            if (i == 0 && k == 0) {
                const tki_value x = finite_part(a), z = finite_part(b);
                part = of_finite(rules, p, &x, &z);
            } else {
                part = of_infinite(p, classes[i], a, classes[k], b);
            }
            y = tki_value_either(&y, &part);
        }
    return y;
}

tki_value tki_special_square(const tki_rules *rules, const tki_value *a)
{
    const tki_value x = finite_part(a);
    tki_value y = a->state & TKI_IS_FINITE ? tki_squared(rules, &x) : tki_value_of_state(0);
    y.state |= (a->state & (TKI_IS_NAN | TKI_IS_UNKNOWN)) | (a->state & TKI_IS_INFINITE ? TKI_IS_PLUS_INF : 0);
    return y;
}

/* -- Sums ----------------------------------------------------------------------------------------------------------- */

/* The sum begins with `b`: g for D becomes g' for D + 1 roundings, g' - g = u (1 + g), and `b` passes through all of them. */
static double error_with_bias(const tki_value *sum, const tki_value *b)
{
    const double g = tki_growth((double)sum->depth), more = tki_growth((double)sum->depth + 1);
    return sum->e + TKI_U * (1 + g) * sum->mass + (1 + more) * b->e + more * tki_value_magnitude(b);
}

/* Of what was normalised: x a + (b - m a) is a right evaluation, too, and rounds b - m a; the rule of TKI_STANDARDIZE has paid for the rest. */
tki_value tki_added_to_sum(const tki_rules *rules, const tki_value *a, const tki_value *b)
{
    const double v = a->v + b->v, d = (a->d + b->d + TKI_DOUBLE_UNIT * fabs(v)) * TKI_DOUBLE_SLACK;
    double more = 0;
    if (a->depth == TKI_NORMALISED || b->depth == TKI_NORMALISED)
        more = TKI_U * fmin(a->depth == TKI_NORMALISED ? tki_value_magnitude(b) : INFINITY,
                            b->depth == TKI_NORMALISED ? tki_value_magnitude(a) : INFINITY);
    double e = tki_rounded_error(v, d, a->e + b->e, 1, tki_underflow(rules, 0)) + more;
    if (a->depth > 0)
        e = fmax(e, error_with_bias(a, b));
    if (b->depth > 0)
        e = fmax(e, error_with_bias(b, a));
    tki_value y = tki_value_rounded(v, d, e, 0, 0, -INFINITY, INFINITY);
    if (a->depth >= 0 && b->depth >= 0) {
        y.depth = (a->depth > b->depth ? a->depth : b->depth) + 1;
        y.mass = (a->depth > 0 ? a->mass : tki_value_magnitude(a) + a->e) +
                 (b->depth > 0 ? b->mass : tki_value_magnitude(b) + b->e);
    }
    return y;
}

/* -- Numbers ------------------------------------------------------------------------------------------------------- */

/* The divisor of an evaluation is at least `least` in size: its reciprocal does not overflow. */
tki_value tki_divided(const tki_rules *rules, const tki_value *a, const tki_value *b)
{
    if (!tki_both_finite(a, b))
        return tki_special_binary(rules, TKI_DIVIDE, a, b);
    const double least = b->l > 0 ? b->l : b->h < 0 ? -b->h : 0;
    if (!(least >= TKI_FP32_SMALLEST_NORMAL))
        return tki_value_of_state(TKI_IS_UNKNOWN);
    const double end = tki_value_least(b), other_end = tki_value_most(b), middle = 0.5 * (end + other_end);
    const double divisor = b->d == 0 ? b->v : middle,
                 off = b->d == 0 ? 0 : fmax(middle - end, other_end - middle) * TKI_DOUBLE_SLACK;
    const double v = a->v / divisor, magnitude = fabs(v) * TKI_DOUBLE_SLACK;
    const double d = (a->d + magnitude * off) / least * TKI_DOUBLE_SLACK + 2 * TKI_DOUBLE_UNIT * magnitude +
                     TKI_DOUBLE_TINY;
    const double e = (a->e + (magnitude + d) * b->e) / least;
    const double small = fabs(b->v) + b->d + b->e > 0x1p126
                             ? (tki_value_magnitude(a) + a->e) * tki_underflow(rules, TKI_FP32_UNDERFLOW)
                             : 0;
    const bool positive = (a->l >= 0 && b->v > 0) || (a->h <= 0 && b->v < 0);
    const bool negative = (a->h <= 0 && b->v > 0) || (a->l >= 0 && b->v < 0);
    return tki_value_rounded(v, d * TKI_DOUBLE_SLACK, e * TKI_DOUBLE_SLACK, 3,
                             tki_underflow(rules, TKI_FP32_SMALLEST) + small, positive ? 0 : -INFINITY,
                             negative ? 0 : INFINITY);
}

tki_value tki_absolute(const tki_value *a)
{
    tki_value y = chosen(a);
    y.v = fabs(a->v);
    y.l = a->l > 0 ? a->l : a->h < 0 ? -a->h : 0;
    y.h = fmax(fabs(a->l), fabs(a->h));
    if (a->state & TKI_IS_MINUS_INF)
        y.state = (a->state & ~(unsigned)TKI_IS_MINUS_INF) | TKI_IS_PLUS_INF;
    return y;
}

/* The exact values are within [least, most] too. */
static tki_value of_ends(double least, double most, double l, double h)
{
    const double v = least == most ? least : 0.5 * (least + most);
    const double d = least == most ? 0 : fmax(v - least, most - v) * TKI_DOUBLE_SLACK; /* v is rounded */
    return (tki_value){.v = v,
                       .d = d,
                       .e = fmax(h - least, most - l) > 0 ? fmax(h - least, most - l) * TKI_DOUBLE_SLACK : 0,
                       .l = l,
                       .h = h,
                       .state = TKI_IS_FINITE};
}

tki_value tki_larger(const tki_value *a, const tki_value *b)
{
    if (!tki_both_finite(a, b))
        return tki_special_binary(NULL, TKI_MAX, a, b);
    if (a->l >= b->h && tki_value_low(a) >= tki_value_high(b))
        return chosen(a);
    if (b->l >= a->h && tki_value_low(b) >= tki_value_high(a))
        return chosen(b);
    return of_ends(fmax(tki_value_low(a), tki_value_low(b)), fmax(tki_value_high(a), tki_value_high(b)),
                   fmax(a->l, b->l), fmax(a->h, b->h));
}

tki_value tki_smaller(const tki_value *a, const tki_value *b)
{
    const tki_value x = tki_negated(a), y = tki_negated(b), larger = tki_larger(&x, &y);
    return tki_negated(&larger);
}

/* (|v| + e)^n (1 + u)^n - |v^n| + n 2^-149 max(1, (|v| + e)^n). In double the n products are off by 2 n 2^-53 of it at most. */
tki_value tki_raised(const tki_rules *rules, const tki_value *a, int n)
{
    if (n == 0)
        return tki_value_exactly(1);
    if (a->state != TKI_IS_FINITE) {
        tki_value y = *a;
        for (int i = 1; i < n; i++)
            y = tki_multiplied(rules, &y, a);
        return y;
    }
    double v = 1, magnitude = 1, most = 1, grown = 1;
    for (int i = 0; i < n; i++) {
        v *= a->v;
        magnitude *= tki_value_magnitude(a);
        most *= tki_value_magnitude(a) + a->e;
        grown *= 1 + TKI_U;
    }
    if (n == 1 || tki_value_is_zero(a))
        return n == 1 ? *a : tki_value_exactly(0);
    const double roundings = 2 * n * TKI_DOUBLE_UNIT * most + TKI_DOUBLE_TINY;
    const double d = (magnitude - fabs(v)) + roundings;
    const double e = most * grown - fabs(v) + d + roundings +
                     n * tki_underflow(rules, TKI_FP32_SMALLEST) * fmax(1, most);
    return tki_value_rounded(v, d, e, 0, 0, n % 2 == 0 || a->l >= 0 ? 0 : -INFINITY,
                             a->h <= 0 && n % 2 ? 0 : INFINITY);
}

/* exp(b log a) at a corner, with an error of less than `relative` of it; the logarithm and the product change it by a share of |b log a|. */
static double power_at(const tki_rules *rules, double a, double b, double *relative)
{
    const double exponent = b * tki_log(rules->tables, a);
    *relative = fmax(*relative, (fabs(exponent) + 1) * (4 * TKI_ELEMENTARY_ERROR));
    return tki_exp(rules->tables, exponent);
}

static void power_hull(const tki_rules *rules, const double a[2], const double b[2], double *least, double *most)
{
    double relative = 0;
    *least = INFINITY;
    *most = 0;
    for (int i = 0; i < 4; i++) {
        const double y = power_at(rules, a[i / 2], b[i % 2], &relative);
        *least = fmin(*least, y);
        *most = fmax(*most, y);
    }
    *least = *least * (1 - relative) - TKI_ELEMENTARY_TINY;
    *most = *most * (1 + relative) + TKI_ELEMENTARY_TINY;
}

tki_value tki_power(const tki_rules *rules, const tki_value *a, const tki_value *b)
{
    if (((a->state | b->state) & ~(unsigned)TKI_IS_ABSENT) != TKI_IS_FINITE || !(a->l > 0))
        return tki_value_of_state(TKI_IS_UNKNOWN | ((a->state | b->state) & TKI_IS_NAN));
    const double exact_a[2] = {tki_value_least(a), tki_value_most(a)};
    const double exact_b[2] = {tki_value_least(b), tki_value_most(b)};
    const double near_a[2] = {a->l, a->h}, near_b[2] = {b->l, b->h};
    double lo, hi, least, most;
    power_hull(rules, exact_a, exact_b, &lo, &hi);
    power_hull(rules, near_a, near_b, &least, &most);
    if (!(hi < TKI_FUNCTION_END))
        return tki_value_of_state(TKI_IS_UNKNOWN);
    const double log = fmax(fabs(tki_log(rules->tables, a->l)), fabs(tki_log(rules->tables, a->h)));
    const double k = 8 + 4 * fmax(fabs(b->l), fabs(b->h)) * log * TKI_DOUBLE_SLACK;
    return tki_value_rounded(0.5 * (lo + hi), 0.5 * (hi - lo) * TKI_DOUBLE_SLACK + TKI_DOUBLE_TINY,
                             fmax(most - lo, hi - least), k, tki_underflow(rules, 1.0001 * TKI_FP32_SMALLEST_NORMAL),
                             0, INFINITY);
}

static double rounded_to(tk_dtype dtype, double x)
{
    return tki_decode(dtype, tki_round_double(dtype, x));
}

/* What is beyond the format's largest number, on one side or on both, becomes an infinity or NaN; the rest lies between what is left of the ends. */
tki_value tki_cast_to(tk_dtype dtype, const tki_value *a)
{
    tki_value y = tki_value_of_state(a->state & ~(unsigned)TKI_IS_FINITE);
    if ((y.state & TKI_IS_INFINITE) && isnan(rounded_to(dtype, INFINITY))) /* a format without infinities */
        y.state = (y.state & ~(unsigned)TKI_IS_INFINITE) | TKI_IS_NAN;
    if (!(a->state & TKI_IS_FINITE))
        return y;
    const double largest = tki_magnitude_value(tki_format_of(dtype), tki_format_of(dtype).largest);
    const double ends[4] = {tki_value_low(a), tki_value_high(a), a->l, a->h};
    double within[4];
    for (int i = 0; i < 4; i++) {
        const tki_value beyond = tki_value_of_input(rounded_to(dtype, ends[i]));
        within[i] = rounded_to(dtype, fmin(fmax(ends[i], -largest), largest));
        y.state |= beyond.state & TKI_IS_ANY;
    }
    if (!isfinite(rounded_to(dtype, a->l)) && !isfinite(rounded_to(dtype, a->h)) && (a->l > 0 || a->h < 0))
        return y;
    const tki_value part = of_ends(within[0], within[1], within[2], within[3]);
    return tki_value_either(&y, &part);
}

tki_value tki_constant_of(double v, double d)
{
    if (!isfinite(v))
        return tki_value_of_input(v);
    if (d == 0 && (double)(float)v == v)
        return tki_value_exactly(v);
    return tki_value_rounded(v, d, 0, 1, TKI_FP32_UNDERFLOW, v > 0 ? 0 : -INFINITY, v < 0 ? 0 : INFINITY);
}

/* -- Truths -------------------------------------------------------------------------------------------------------- */

/* Whether `relation` may hold, and may not, for numbers of [al, ah] and [bl, bh]. */
static void may_hold(tki_relation relation, double al, double ah, double bl, double bh, bool *may, bool *may_not)
{
    const bool less = al<bh, greater = ah> bl, equal = al <= bh && ah >= bl, apart = less || greater;
    switch (relation) {
    case TKI_IS_EQUAL:
    case TKI_IS_UNEQUAL:
        *may = relation == TKI_IS_EQUAL ? equal : apart;
        *may_not = relation == TKI_IS_EQUAL ? apart : equal;
        return;
    case TKI_IS_LESS:
    case TKI_IS_GREATER_EQUAL:
        *may = relation == TKI_IS_LESS ? less : ah >= bl;
        *may_not = relation == TKI_IS_LESS ? ah >= bl : less;
        return;
    case TKI_IS_LESS_EQUAL:
    case TKI_IS_GREATER:
        *may = relation == TKI_IS_GREATER ? greater : al <= bh;
        *may_not = relation == TKI_IS_GREATER ? al <= bh : greater;
        return;
    }
}

static void ends_of(unsigned class, const tki_value *a, double *l, double *h)
{
    *l = class == TKI_IS_FINITE ? a->l : class == TKI_IS_PLUS_INF ? INFINITY : -INFINITY;
    *h = class == TKI_IS_FINITE ? a->h : *l;
}

unsigned tki_compared(tki_relation relation, const tki_value *a, const tki_value *b)
{
    unsigned truth = 0;
    bool may, may_not;
    if ((a->state | b->state) & TKI_IS_UNKNOWN)
        truth |= TKI_NOT_KNOWN;
    if ((a->state | b->state) & TKI_IS_NAN)
        truth |= TKI_WITH_NAN | (relation == TKI_IS_UNEQUAL ? TKI_FOUND_TRUE : TKI_FOUND_FALSE);
    const unsigned classes[] = {TKI_IS_FINITE, TKI_IS_PLUS_INF, TKI_IS_MINUS_INF};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            if (!(a->state & classes[i]) || !(b->state & classes[k]))
                continue;
            double al, ah, bl, bh;
            ends_of(classes[i], a, &al, &ah);
            ends_of(classes[k], b, &bl, &bh);
            may_hold(relation, al, ah, bl, bh, &may, &may_not);
            truth |= (may ? TKI_FOUND_TRUE : 0) | (may_not ? TKI_FOUND_FALSE : 0);
            if (i == 0 && k == 0) {
                may_hold(relation, tki_value_low(a), tki_value_high(a), tki_value_low(b), tki_value_high(b), &may,
                         &may_not);
                truth |= (may ? TKI_TRUE : 0) | (may_not ? TKI_FALSE : 0);
            }
        }
    if (!(truth & (TKI_TRUE | TKI_FALSE))) /* no finite numbers: what an evaluation finds is all there is */
        truth |= (truth & TKI_FOUND_TRUE ? TKI_TRUE : 0) | (truth & TKI_FOUND_FALSE ? TKI_FALSE : 0);
    return truth;
}

unsigned tki_compared_with_itself(tki_relation relation, const tki_value *a)
{
    const bool may_be_number = a->state & (TKI_IS_FINITE | TKI_IS_INFINITE);
    tki_value zero = tki_value_exactly(0);
    zero.state = (a->state & (TKI_IS_NAN | TKI_IS_UNKNOWN)) | (may_be_number ? TKI_IS_FINITE : 0);
    return tki_compared(relation, &zero, &zero);
}

unsigned tki_both(unsigned a, unsigned b)
{
    return (a & b & (TKI_TRUE | TKI_FOUND_TRUE)) | ((a | b) & (TKI_FALSE | TKI_FOUND_FALSE)) |
           ((a | b) & (TKI_NOT_KNOWN | TKI_WITH_NAN | TKI_OF_NUMBERS));
}

tki_value tki_selected(unsigned truth, const tki_value *if_true, const tki_value *if_false)
{
    const tki_value beside = tki_value_of_state((truth & TKI_NOT_KNOWN ? TKI_IS_UNKNOWN : 0) |
                                                (truth & TKI_WITH_NAN ? TKI_IS_NAN : 0));
    /* The exact branch first: its value is the exact one. Where both may be, so may the other. */
    const tki_value *first = truth & TKI_TRUE ? if_true : if_false;
    const tki_value *second = truth & TKI_TRUE ? if_false : if_true;
    const bool open = (truth & TKI_TRUE) && (truth & TKI_FALSE);
    const unsigned found_second = truth & TKI_TRUE ? TKI_FOUND_FALSE : TKI_FOUND_TRUE;
    tki_value y = *first;
    if (open || (truth & found_second))
        y = tki_value_either(first, second);
    if (open && (first->state & second->state & TKI_IS_FINITE)) {
        const double least = fmin(tki_value_low(first), tki_value_low(second));
        const double most = fmax(tki_value_high(first), tki_value_high(second));
        const unsigned state = y.state;
        y = of_ends(least, most, y.l, y.h);
        y.state = state;
    }
    if (beside.state)
        y = tki_value_either(&y, &beside);
    return truth & TKI_OF_NUMBERS ? chosen(&y) : y;
}
