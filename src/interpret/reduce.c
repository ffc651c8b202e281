/* DECIDES. The rules for reductions. */
#include "interpret/reduce.h"

#include "exact/exp_over_sum_bound.h"
#include "exact/product_bound.h"
#include "interpret/functions.h"

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

void tki_sum_begin(tki_sum *s)
{
    *s = (tki_sum){.state = TKI_IS_FINITE};
}

/* What a sum may be whose parts may be so. */
static unsigned added_states(unsigned a, unsigned b)
{
    const unsigned infinite_a = a & TKI_IS_INFINITE, infinite_b = b & TKI_IS_INFINITE;
    unsigned y = ((a | b) & (TKI_IS_NAN | TKI_IS_UNKNOWN)) | (a & b & TKI_IS_FINITE);
    y |= (a & TKI_IS_FINITE ? infinite_b : 0) | (b & TKI_IS_FINITE ? infinite_a : 0) | (infinite_a & infinite_b);
    if (((a & TKI_IS_PLUS_INF) && (b & TKI_IS_MINUS_INF)) || ((a & TKI_IS_MINUS_INF) && (b & TKI_IS_PLUS_INF)))
        y |= TKI_IS_NAN;
    return y;
}

static void take(tki_sum *s, double v, double d, double e)
{
    const double magnitude = fabs(v) + d;
    tki_sum_add(s, v);
    s->d += d;
    s->mass += magnitude;
    s->error += e;
    s->nonzero += magnitude + e > 0;
}

void tki_sum_take(tki_sum *s, const tki_value *term)
{
    s->terms++;
    if ((s->state | term->state) != TKI_IS_FINITE)
        s->state = added_states(s->state, term->state & ~(unsigned)TKI_IS_ABSENT);
    if (!(term->state & TKI_IS_FINITE))
        return;
    s->negative |= term->l < 0;
    s->positive |= term->h > 0;
    take(s, term->v, term->d, term->e);
}

void tki_sum_take_product(const tki_rules *rules, tki_sum *s, const tki_value *a, const tki_value *b)
{
    if (!tki_both_finite(a, b)) {
        const tki_value product = tki_special_binary(rules, TKI_MULTIPLY, a, b);
        tki_sum_take(s, &product);
        return;
    }
    s->terms++;
    if (tki_value_is_zero(a) || tki_value_is_zero(b))
        return;
    const bool positive = (a->l >= 0 && b->l >= 0) || (a->h <= 0 && b->h <= 0);
    const bool negative = (a->l >= 0 && b->h <= 0) || (a->h <= 0 && b->l >= 0);
    s->negative |= !positive;
    s->positive |= !negative;
    const double v = a->v * b->v;
    take(s, v, tki_product_radius(a, b, v), tki_product_error(a, b));
}

/* E (1 + g) + g S + t. In double: `sum` and `lost` together are exact but for the roundings of `lost`, each at most 2^-53 of what is lost so far,
 * which is at most n 2^-53 S; and but for that of their sum. */
tki_value tki_sum_end(const tki_sum *s, double depth, double underflow)
{
    const double g = tki_growth(fmax(depth, 0)), n = (double)s->terms, v = s->sum + s->lost;
    const double mass = s->mass * (1 + n * 0x1p-52), error = s->error * (1 + n * 0x1p-52);
    const double roundings = s->nonzero > 1 ? n * n * 0x1p-104 * mass + TKI_DOUBLE_UNIT * fabs(v) : 0;
    const double e = error * (1 + g) + g * mass + underflow;
    tki_value y = tki_value_rounded(v, s->d * (1 + n * 0x1p-52) + roundings, e, 0, 0, s->negative ? -INFINITY : 0,
                                    s->positive ? INFINITY : 0);
    const bool overflows = !((1 + g) * (mass + error) < TKI_FP32_OVERFLOW);
    if (overflows && (s->state & TKI_IS_FINITE))
        y.state |= TKI_IS_NAN | (s->positive ? TKI_IS_PLUS_INF : 0) | (s->negative ? TKI_IS_MINUS_INF : 0);
    if (s->state != TKI_IS_FINITE) /* the other infinity, of finite terms, makes NaN of an infinite one */
        y.state = (s->state & TKI_IS_FINITE ? y.state : 0) | s->state |
                  (overflows && (s->state & TKI_IS_INFINITE) ? TKI_IS_NAN : 0);
    return y;
}

/* -- Exponentials --------------------------------------------------------------------------------------------------- */

/* Each exp(x - top) in double is off by (4.1 + top - x) 2^-53 of itself, its own error and that of its argument's rounding, and what is farther away
 * than TKI_SOFTMAX_FAR is too small to count. */
#define TERM_ERROR 0x1p-46

/* Are all arguments exact, and those that count equal to the largest? */
static bool is_plateau(const tki_row *row)
{
    return row->farthest == 0 && row->radius == 0 && row->highest == row->near &&
           (double)row->near <= TKI_SOFTMAX_PLATEAU;
}

/* As for softmax_fwd (docs/contracts.md). */
static double depth_of_exponentials(const tki_row *row)
{
    const double all = (double)(row->near - 1);
    return is_plateau(row) ? fmin(all, TKI_SOFTMAX_PLATEAU_DEPTH + TKI_SOFTMAX_PLATEAU_PER_MAXIMUM * fabs(row->top))
                           : all;
}

/* The most rescalings of a partial sum: by rows, or by blocks of 32 where arguments are computed on the way. */
static double rescalings_of(const tki_row *row)
{
    if (is_plateau(row))
        return 0;
    const double blocks = row->farthest > 0 ? ceil((double)row->terms / 32) : 0;
    return fmin((double)(row->near - 1), fmax(TKI_SOFTMAX_RESCALINGS, blocks));
}

/* u [2.25 ln n + 9 + D + 9 R] + n t: exponentials within 8 u, their arguments within 2.25 u of their distance, of which the weighted mean is at
 * most ln n; additions, rescalings and what underflows. */
static double relative_of_sum(const tki_row *row)
{
    const double n = (double)row->terms;
    const double depth = depth_of_exponentials(row) + 9 * rescalings_of(row);
    return 1.0001 * (TKI_U * (2.25 * tki_softmax_ln(row->terms) + 9 + depth) + n * TKI_FP32_SMALLEST_NORMAL);
}

/* Rows of which an element is NaN or +inf, or all -inf, are NaN. */
static void take_argument(tki_row *row, const tki_value *x)
{
    row->state |= x->state & (TKI_IS_NAN | TKI_IS_UNKNOWN);
    if (x->state & TKI_IS_PLUS_INF)
        row->state |= TKI_IS_NAN;
    row->infinite |= x->state & TKI_IS_PLUS_INF;
    row->has_nan |= x->state == TKI_IS_NAN;
    row->surely |= !(x->state & (TKI_IS_MINUS_INF | TKI_IS_UNKNOWN));
    row->is_nan |= !(x->state & (TKI_IS_FINITE | TKI_IS_MINUS_INF | TKI_IS_UNKNOWN));
    if (!(x->state & TKI_IS_FINITE))
        return;
    row->state |= TKI_IS_FINITE;
    if (x->v > row->top) {
        row->top = x->v;
        row->place = row->here;
    }
    row->radius = fmax(row->radius, x->d);
    row->farthest = fmax(row->farthest, x->e);
}

double tki_grown_by(const tki_rules *rules, double e)
{
    return e == 0 ? 1 : e < 700 ? tki_exp(rules->tables, e) * (1 + 0x1p-40) : INFINITY;
}

static void take_exponential(const tki_rules *rules, tki_row *row, const tki_value *x)
{
    if (!(x->state & TKI_IS_FINITE)) {
        row->near += x->state != TKI_IS_MINUS_INF;
        return;
    }
    const double distance = row->top - x->v, y = tki_exp(rules->tables, -distance);
    const double grown = y * tki_grown_by(rules, x->e);
    const bool is_near = distance - (x->d + x->e + row->radius + row->farthest) <= TKI_SOFTMAX_FAR;
    row->near += is_near;
    row->highest += distance == 0;
    row->loses |= is_near && (x->state & TKI_IS_MINUS_INF);
    row->exponentials += y;
    row->grown += grown;
    if (row->here != row->place) {
        row->rest += y;
        row->rest_grown += grown;
    }
}

/* How far off the sum of exponentials is here, as a share of it, were the arguments exact. */
static double relative_radius(const tki_row *row)
{
    return (TERM_ERROR + (double)row->terms * 0x1p-52) * TKI_DOUBLE_SLACK + (double)row->terms * 0x1p-300;
}

/* log(sum p exp e), by which an argument's errors change the logarithm of the sum: at most their largest. */
static double input_term(const tki_rules *rules, const tki_row *row)
{
    if (row->farthest == 0)
        return 0;
    const double most = row->farthest + 0x1p-38 * (1 + row->farthest), shift = 2 * row->radius;
    if (!(row->grown < INFINITY))
        return most;
    return fmin(most, tki_log(rules->tables, fmax(1, row->grown / row->exponentials)) + 0x1p-38 * row->farthest +
                          2 * (relative_radius(row) + shift * (1 + shift)));
}

static bool may_be_finite(const tki_row *row)
{
    return (row->state & TKI_IS_FINITE) && !row->is_nan;
}

/* NaN beside what a finite row gives, or instead. */
static tki_value of_row_state(const tki_row *row, tki_value y)
{
    if (row->state == TKI_IS_FINITE)
        return y;
    if (!may_be_finite(row))
        return tki_value_of_state((row->state & TKI_IS_UNKNOWN) | TKI_IS_NAN);
    y.state |= row->state;
    return y;
}

static tki_value log_of_sum(const tki_rules *rules, const tki_row *row)
{
    if (row->terms == 0)
        return tki_value_of_state(TKI_IS_MINUS_INF);
    const unsigned infinite = row->has_nan ? 0 : row->infinite;
    if (!may_be_finite(row))
        return tki_value_of_state((row->state & TKI_IS_UNKNOWN) | TKI_IS_NAN | infinite);
    if (row->loses)
        return tki_value_of_state(TKI_IS_UNKNOWN);
    const double log = tki_log(rules->tables, row->exponentials), radius = relative_radius(row);
    const double v = row->top + log;
    const double d = (radius + fabs(log) * TKI_ELEMENTARY_ERROR + row->radius) * TKI_DOUBLE_SLACK +
                     TKI_DOUBLE_UNIT * 2 * (fabs(v) + fabs(row->top));
    const double e = input_term(rules, row) + relative_of_sum(row) +
                     TKI_U * (8 * fabs(log) + 2 * (fabs(row->top) + row->farthest));
    tki_value y = of_row_state(row, tki_value_rounded(v, d, e, 1, tki_underflow(rules, 0), -INFINITY, INFINITY));
    y.state |= infinite;
    return y;
}

static tki_value softmax_element(const tki_rules *rules, const tki_row *row, const tki_value *x, int64_t place)
{
    const double distance = row->top - x->v, term = tki_exp(rules->tables, -distance);
    const bool far = !(distance < 300); /* the element is below 2^-432 */
    const double grown_term = term * tki_grown_by(rules, x->e);
    const double others = place == row->place ? row->rest : row->exponentials - term;
    /* What this one is less may be all of it but roundings, and is at least what the others are without errors. */
    const double others_grown = place == row->place
                                    ? row->rest_grown
                                    : fmax(row->grown - grown_term, others) + tki_row_grown_slack(row);
    const double y = far ? 0 : 1 / (1 + others / term);
    const double within = fmax(y, 1 - y) * TKI_DOUBLE_SLACK; /* of anything in [0, 1] */
    /* The other terms are at least as large as this one, which is off as TERM_ERROR says, here and among them; and exact arguments change y by a
     * share of exp(shift) - 1 at most. */
    const double shift = x->d + row->radius;
    const double near = far && shift < 50 ? 0x1p-280
                        : shift > 0.5     ? INFINITY
                                          : y * (2 * row->relative_radius + (distance + 16) * 0x1p-52 + 2 * shift);
    /* One that is alone is 1 exactly. */
    const double radius = row->terms == 1 ? 0 : far && !(near < within) ? within : fmin(within, near);
    /* With o' = o exp(+-(e + e_j)): 1/(1+o) - 1/(1+o') = (o' - o) / ((1+o)(1+o')), and the sum that is made smaller is at least
     * o^2 over the one that is made larger. */
    double moved = 0;
    if (row->loses || !(radius < 0x1p-30)) {
        moved = 1 + 8 * TKI_U; /* from any number of [0, 1] to any other */
    } else if (row->farthest > 0) {
        moved = fmax(y, 1 - y) + 2 * TKI_U;
        const double o = others / term, more = others_grown * tki_grown_by(rules, x->e) / term;
        if (!far && more < 0x1p500 && o > 0) {
            const double less = o * (o / more);
            const double slack = 0x1p-36 * y;
            moved = fmin(moved,
                         fmax((more - o) / ((1 + o) * (1 + more)), (o - less) / ((1 + o) * (1 + less))) + slack);
        } else if (!far && o == 0 && more == 0) {
            moved = 0;
        } else if (far) {
            /* At most exp(2 (e + e_j)) times larger: of exp(-300), nothing that is seen, or anything. */
            moved = 2 * (x->e + row->farthest) < 100 ? 0x1p-280 : 1;
        }
    }
    const tki_softmax_w w = {.at_maximum = row->at_most, .per_distance = row->per_distance};
    const double reach = fmax(0, distance) + 2 * (x->e + row->farthest + x->d + row->radius);
    const double relative = reach > TKI_SOFTMAX_FAR ? 1 : tki_softmax_relative_bound(w, reach) * TKI_DOUBLE_SLACK;
    if (isinf(relative))
        return tki_value_of_state(TKI_IS_UNKNOWN);
    const double own = (y + radius + moved) * relative + 1.0001 * TKI_FP32_SMALLEST_NORMAL;
    return tki_value_rounded(y, radius, moved + own, 0, 0, 0, 1 + 4 * TKI_U);
}

static tki_value log_softmax_element(const tki_rules *rules, const tki_row *row, const tki_value *x)
{
    const double log = row->log, distance = row->top - x->v;
    const double v = -distance - log;
    const double d = (row->relative_radius + fabs(log) * TKI_ELEMENTARY_ERROR + row->radius + x->d) *
                         TKI_DOUBLE_SLACK +
                     TKI_DOUBLE_UNIT * 4 * (fabs(distance) + fabs(log));
    const double e = x->e + row->moved + row->rounded +
                     TKI_U * (8 * fabs(log) + 2 * (fmax(0, distance) + row->farthest + x->e));
    return tki_value_rounded(v, d, e, 2, tki_underflow(rules, 0), -INFINITY, INFINITY);
}

/* -- Means and variances -------------------------------------------------------------------------------------------- */

/* Running means round at terms that are zero, too: n + 2 ln n + 4 of all n. */
static double depth_of_moments(int64_t terms)
{
    return (double)terms + 2 * tki_softmax_ln(terms) + 4;
}

/* A sum over a number: by a literal 1/n and a product, or by a quotient. */
static tki_value over_number(const tki_rules *rules, const tki_value *sum, double n)
{
    if (sum->state != TKI_IS_FINITE) {
        tki_value y = *sum;
        if (n == 0)
            return tki_value_of_state(TKI_IS_NAN);
        if (sum->state & TKI_IS_FINITE) {
            y.state = TKI_IS_FINITE;
            y = over_number(rules, &y, n);
            y.state |= sum->state;
        }
        return y;
    }
    if (!(n > 0))
        return tki_value_of_state(n == 0 ? TKI_IS_NAN : TKI_IS_UNKNOWN);
    const double v = sum->v / n;
    return tki_value_rounded(v, sum->d / n * TKI_DOUBLE_SLACK + TKI_DOUBLE_UNIT * 2 * fabs(v),
                             sum->e / n * TKI_DOUBLE_SLACK, 2, tki_underflow(rules, TKI_FP32_SMALLEST),
                             sum->l >= 0 ? 0 : -INFINITY, sum->h <= 0 ? 0 : INFINITY);
}

/* -- Products -------------------------------------------------------------------------------------------------------- */

static void scale(tki_scaled *x, double factor)
{
    int of_factor, more;
    const double fraction = frexp(factor, &of_factor);
    x->fraction = frexp(x->fraction * fraction, &more);
    x->exponent += of_factor + more;
}

/* `up` more exponents; at its ends infinite or zero, to TKI_DOUBLE_TINY. */
static double scaled_by(const tki_scaled *x, int64_t up)
{
    const int64_t exponent = x->exponent + up;
    return ldexp(x->fraction, exponent > 4096 ? 4096 : exponent < -4096 ? -4096 : (int)exponent);
}

static void begin_factors(tki_factors *f)
{
    const tki_scaled one = {.fraction = 0.5, .exponent = 1};
    *f = (tki_factors){.v = one, .magnitude = one, .most = one, .reach = 1, .least = 1, .positive = true};
}

static void take_factor(tki_row *row, const tki_value *x)
{
    tki_factors *f = &row->factors;
    const bool finite = x->state & TKI_IS_FINITE;
    const bool up = (finite && x->h > 0) || (x->state & TKI_IS_PLUS_INF);
    const bool down = (finite && x->l < 0) || (x->state & TKI_IS_MINUS_INF);
    const bool positive = (f->positive && up) || (f->negative && down);
    const double most = tki_value_magnitude(x) + x->e, least = x->l > 0 ? x->l : x->h < 0 ? -x->h : 0;
    row->value = *x; /* of one factor */
    f->negative = (f->positive && down) || (f->negative && up);
    f->positive = positive;
    f->is_nan |= !(x->state & (TKI_IS_FINITE | TKI_IS_INFINITE | TKI_IS_UNKNOWN));
    f->is_special |= !finite;
    f->state |= x->state & (TKI_IS_ANY | TKI_IS_UNKNOWN);
    if (!finite)
        return;
    f->has_zero |= tki_value_is_zero(x);
    f->is_zero |= tki_value_is_zero(x) && !(x->state & (TKI_IS_ANY | TKI_IS_UNKNOWN));
    scale(&f->v, x->v);
    scale(&f->magnitude, tki_value_magnitude(x));
    scale(&f->most, most * (1 + TKI_U) * TKI_DOUBLE_SLACK);
    f->reach *= most > 1 ? most * (1 + TKI_U) * TKI_DOUBLE_SLACK : 1;
    f->least *= least < 1 ? least * (1 - 2 * TKI_U) : 1;
}

/* Infinities and NaN, whichever factors are multiplied first: the others give an infinity its sign, and NaN if they can be zero, as they are or by
 * underflow. One that comes of finite factors is made by those above 1, and zero by those below. */
static unsigned infinite_products(const tki_rules *rules, const tki_factors *f)
{
    const double end = rules->flushes ? TKI_FP32_SMALLEST_NORMAL : TKI_FP32_UNDERFLOW;
    if (!(f->state & TKI_IS_INFINITE) && f->reach < TKI_FP32_OVERFLOW)
        return 0;
    const unsigned infinity = (f->positive ? TKI_IS_PLUS_INF : 0) | (f->negative ? TKI_IS_MINUS_INF : 0);
    return (f->is_zero ? 0 : infinity) | (f->has_zero || f->least <= end ? TKI_IS_NAN : 0);
}

/* A rounding of what is subnormal changes it by itself at most, or to zero; the products in double are off by 2^-53 each. */
static tki_value product_of(const tki_rules *rules, const tki_row *row)
{
    const tki_factors *f = &row->factors;
    tki_value y = tki_value_exactly(row->terms == 0);
    if (row->terms == 0)
        return y;
    if (f->is_nan)
        return tki_value_of_state(TKI_IS_NAN | (f->state & TKI_IS_UNKNOWN));
    const unsigned beside = (f->state & (TKI_IS_NAN | TKI_IS_UNKNOWN)) | infinite_products(rules, f);
    if (f->is_special)
        return tki_value_of_state(beside);
    if (row->terms == 1) {
        y = row->value;
        y.mass = 0;
        y.depth = 0;
        y.state = TKI_IS_FINITE;
    } else if (!f->has_zero) {
        const double n = (double)row->terms, v = scaled_by(&f->v, 0), most = scaled_by(&f->most, 0);
        const double magnitude = scaled_by(&f->magnitude, 0);
        const double d = fmax(0, magnitude - fabs(v)) + 2 * n * TKI_DOUBLE_UNIT * magnitude + 2 * TKI_DOUBLE_TINY;
        const double underflow = n * tki_underflow(rules, TKI_FP32_SMALLEST) * f->reach;
        const double e = fmin(fmin(most + underflow, scaled_by(&f->most, row->terms - 1)),
                              TKI_FP32_OVERFLOW + 2 * fabs(v));
        y = tki_value_rounded(v, d, fmax(0, e - fabs(v)) + 2 * d, 0, 0, f->negative ? -INFINITY : 0,
                              f->positive ? INFINITY : 0);
        y.state &= ~(unsigned)TKI_IS_ANY;
    }
    y.state |= beside;
    return y;
}

/* -- Rows ---------------------------------------------------------------------------------------------------------- */

static bool is_of_exponentials(tki_over over)
{
    return over == TKI_SOFTMAX || over == TKI_LOG_SOFTMAX || over == TKI_LOG_SUM_EXP;
}

void tki_row_begin(tki_row *row, tki_over over)
{
    *row = (tki_row){.over = over, .place = -1, .top = -INFINITY};
    tki_sum_begin(&row->sum);
    begin_factors(&row->factors);
    row->value = over == TKI_MAXIMUM || over == TKI_CUMMAX   ? tki_value_of_state(TKI_IS_MINUS_INF)
                 : over == TKI_MINIMUM || over == TKI_CUMMIN ? tki_value_of_state(TKI_IS_PLUS_INF)
                                                             : tki_value_of_state(TKI_IS_UNKNOWN);
}

void tki_row_take(tki_row *row, const tki_value *term)
{
    switch (row->over) {
    case TKI_PROD:
    case TKI_CUMPROD: take_factor(row, term); break;
    case TKI_MAXIMUM:
    case TKI_CUMMAX: row->value = tki_larger(&row->value, term); break;
    case TKI_MINIMUM:
    case TKI_CUMMIN: row->value = tki_smaller(&row->value, term); break;
    case TKI_SOFTMAX:
    case TKI_LOG_SOFTMAX:
    case TKI_LOG_SUM_EXP: take_argument(row, term); break;
    default: tki_sum_take(&row->sum, term); break;
    }
    row->terms++;
}

void tki_row_take_product(const tki_rules *rules, tki_row *row, const tki_value *a, const tki_value *b)
{
    tki_sum_take_product(rules, &row->sum, a, b);
    row->terms++;
}

void tki_row_turn(const tki_rules *rules, tki_row *row)
{
    if (is_of_exponentials(row->over)) {
        const bool none = !row->surely && row->terms > 0; /* of -inf alone */
        row->state |= none ? TKI_IS_NAN : 0;
        row->infinite |= none ? TKI_IS_MINUS_INF : 0;
    } else {
        const tki_value sum = tki_sum_end(&row->sum, row->terms > 0 ? depth_of_moments(row->terms) : 0, 0);
        row->mean = over_number(rules, &sum, (double)row->terms);
        tki_sum_begin(&row->sum);
    }
    row->terms = 0;
}

void tki_row_take_again(const tki_rules *rules, tki_row *row, const tki_value *term)
{
    if (is_of_exponentials(row->over)) {
        take_exponential(rules, row, term);
    } else {
        const tki_value minus = tki_negated(&row->mean), difference = tki_added(rules, term, &minus);
        const tki_value square = tki_squared(rules, &difference);
        tki_sum_take(&row->sum, &square);
    }
    row->terms++;
}

static tki_value variance_of(const tki_rules *rules, const tki_row *row, double correction)
{
    const tki_value sum = tki_sum_end(&row->sum, row->terms > 0 ? depth_of_moments(row->terms) : 0, 0);
    return over_number(rules, &sum, (double)row->terms - correction);
}

/* What a matrix unit makes of its terms: factors are off, products are aligned with more than their magnitude. */
static tki_sum on_units(const tki_sum *of, const tki_units *units)
{
    tki_sum sum = *of;
    const double nonzero = (double)sum.nonzero;
    sum.error += (units->relative * (sum.mass + sum.error) + nonzero * units->absolute) * TKI_DOUBLE_SLACK;
    sum.mass += nonzero * units->aligned * TKI_DOUBLE_SLACK;
    return sum;
}

/* How many units of roundoff K' 2^-F + b (2^-F + 2^-23) are, with b blocks that have a product other than zero. */
static double depth_on_units(const tki_sum *of, const tki_units *units)
{
    const double nonzero = (double)of->nonzero;
    const double blocks = units->block > 0 ? fmin(nonzero, ceil((double)of->terms / units->block)) : nonzero;
    return (nonzero * units->truncation + blocks * (units->truncation + TKI_MATRIX_UNIT_STORE)) / TKI_U;
}

tki_value tki_sum_value(const tki_rules *rules, const tki_sum *of, tki_terms terms)
{
    const double nonzero = (double)of->nonzero, in_fp32 = nonzero - (terms.products ? 0 : 1);
    const bool or_fp32 = !terms.units.used || terms.units.or_fp32;
    const tki_sum sum = terms.units.used ? on_units(of, &terms.units) : *of;
    const double on_unit = terms.units.used ? depth_on_units(of, &terms.units) : 0;
    const double depth = fmax(or_fp32 ? in_fp32 : 0, on_unit);
    /* One product alone is exact on a unit. */
    const double own = nonzero > 1 ? depth : or_fp32 ? in_fp32 : 0;
    const double underflow = terms.underflow ? nonzero * TKI_FP32_SMALLEST * (1 + tki_growth(fmax(own, 0))) : 0;
    const double flushed = rules->flushes ? nonzero * 2 * TKI_FP32_SMALLEST_NORMAL : 0;
    tki_value y = tki_sum_end(&sum, own, underflow + flushed);
    y.depth = y.state == TKI_IS_FINITE && depth > 0 ? (int64_t)ceil(depth) : 0;
    y.mass = y.depth > 0 ? (sum.mass + sum.error) * (1 + (double)of->terms * 0x1p-52) : 0;
    return y;
}

tki_value tki_row_end(const tki_rules *rules, const tki_row *row, tki_terms terms, const tki_value *parameter)
{
    switch (row->over) {
    case TKI_SUM:
    case TKI_CUMSUM: return tki_sum_value(rules, &row->sum, terms);
    case TKI_MEAN: {
        const tki_value sum = tki_sum_value(rules, &row->sum, terms);
        return row->terms == 0 ? tki_value_of_state(TKI_IS_NAN) : over_number(rules, &sum, (double)row->terms);
    }
    case TKI_PROD:
    case TKI_CUMPROD: return product_of(rules, row);
    case TKI_VAR:
        return row->terms == 0 ? tki_value_of_state(TKI_IS_NAN)
                               : variance_of(rules, row, parameter ? parameter->v : 0);
    case TKI_LOG_SUM_EXP: return log_of_sum(rules, row);
    default: return row->value;
    }
}

void tki_row_finish(const tki_rules *rules, tki_row *row, const tki_value *parameter)
{
    if (is_of_exponentials(row->over) && may_be_finite(row) && row->terms > 0) {
        const tki_softmax_w w = tki_softmax_w_of_row(1, (double)row->terms, tki_softmax_ln(row->terms),
                                                     depth_of_exponentials(row), rescalings_of(row));
        row->at_most = w.at_maximum;
        row->per_distance = w.per_distance;
        row->relative_radius = relative_radius(row);
        row->log = tki_log(rules->tables, row->exponentials);
        row->moved = input_term(rules, row);
        row->rounded = relative_of_sum(row);
    }
    if (row->over != TKI_STANDARDIZE || row->terms == 0)
        return;
    const tki_value variance = variance_of(rules, row, 0), sum = tki_added(rules, &variance, parameter);
    row->value = tki_function_value(rules->tables, TKI_RSQRT, &sum, rules->flushes);
}

/* (x - m) r; and x r + (-m r) is as right, whose two products and difference round what may be much larger: u (|x r| + 2 |m r|). */
static tki_value standardized(const tki_rules *rules, const tki_row *row, const tki_value *of)
{
    tki_value number = *of;
    const tki_value *const x = &number;
    number.state &= ~(unsigned)TKI_IS_ABSENT;
    const tki_value minus = tki_negated(&row->mean), difference = tki_added(rules, x, &minus);
    tki_value y = tki_multiplied(rules, &difference, &row->value);
    if (!tki_both_finite(x, &y) || row->mean.state != TKI_IS_FINITE || row->value.state != TKI_IS_FINITE)
        return y;
    const double scale = tki_value_magnitude(&row->value) + row->value.e;
    const double more = TKI_U * scale *
                        (tki_value_magnitude(x) + x->e + 2 * (tki_value_magnitude(&row->mean) + row->mean.e));
    y = tki_value_rounded(y.v, y.d, y.e + more, 0, 0, -INFINITY, INFINITY);
    y.depth = TKI_NORMALISED;
    return y;
}

tki_value tki_row_element(const tki_rules *rules, const tki_row *row, const tki_value *term, int64_t place)
{
    if (row->over == TKI_STANDARDIZE)
        return standardized(rules, row, term);
    if (!may_be_finite(row))
        return tki_value_of_state((row->state & TKI_IS_UNKNOWN) | TKI_IS_NAN);
    tki_value y = tki_value_of_state(0);
    if (term->state & TKI_IS_FINITE)
        y = row->over == TKI_SOFTMAX ? softmax_element(rules, row, term, place)
            : row->loses             ? tki_value_of_state(TKI_IS_UNKNOWN)
                                     : log_softmax_element(rules, row, term);
    if (term->state & TKI_IS_MINUS_INF) {
        const tki_value none = row->over == TKI_SOFTMAX ? tki_value_exactly(0) : tki_value_of_state(TKI_IS_MINUS_INF);
        y = tki_value_either(&y, &none);
    }
    y.state |= row->state & ~(unsigned)TKI_IS_FINITE;
    return y;
}
