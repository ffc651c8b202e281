/* DECIDES. The table of functions, and the rule by which they carry values. */
#include "interpret/functions.h"

#include "interpret/known.h"

#define EXP_UNDERFLOW (1.0001 * TKI_FP32_SMALLEST_NORMAL)
#define EXP_ARGUMENT (9.0 / 4)
#define LN_2 0x1.62e42fefa39efp-1

/* -- In double ----------------------------------------------------------------------------------------------------- */

static double at_sqrt(const tki_elementary *t, double x)
{
    (void)t;
    return sqrt(x);
}

static double at_rsqrt(const tki_elementary *t, double x)
{
    (void)t;
    return 1 / sqrt(x);
}

/* x = i + f with |f| <= 1/2, exactly; f ln 2 has two roundings. */
static double at_exp2(const tki_elementary *t, double x)
{
    if (fabs(x) >= 1000)
        return x < 0 ? 0 : INFINITY;
    const double i = nearbyint(x);
    return ldexp(tki_exp(t, (x - i) * LN_2), (int)i);
}

static double at_one_minus_sigmoid(const tki_elementary *t, double x)
{
    return tki_sigmoid(t, -x);
}

static double at_log_sigmoid(const tki_elementary *t, double x)
{
    return -tki_softplus(t, -x);
}

static double at_gelu(const tki_elementary *t, double x)
{
    return x * tki_normal_cdf(t, x);
}

/* -- By MPFR ------------------------------------------------------------------------------------------------------- */

static void by_exp2(tki_interval *y, const tki_interval *x)
{
    mpfr_exp2(y->lo, x->lo, MPFR_RNDD);
    mpfr_exp2(y->hi, x->hi, MPFR_RNDU);
}

static void by_log(tki_interval *y, const tki_interval *x)
{
    mpfr_log(y->lo, x->lo, MPFR_RNDD);
    mpfr_log(y->hi, x->hi, MPFR_RNDU);
}

static void by_expm1(tki_interval *y, const tki_interval *x)
{
    mpfr_expm1(y->lo, x->lo, MPFR_RNDD);
    mpfr_expm1(y->hi, x->hi, MPFR_RNDU);
}

static void by_tanh(tki_interval *y, const tki_interval *x)
{
    mpfr_tanh(y->lo, x->lo, MPFR_RNDD);
    mpfr_tanh(y->hi, x->hi, MPFR_RNDU);
}

static void by_erf(tki_interval *y, const tki_interval *x)
{
    mpfr_erf(y->lo, x->lo, MPFR_RNDD);
    mpfr_erf(y->hi, x->hi, MPFR_RNDU);
}

static void by_rsqrt(tki_interval *y, const tki_interval *x)
{
    mpfr_t lo;
    mpfr_init2(lo, mpfr_get_prec(y->lo));
    mpfr_rec_sqrt(lo, x->hi, MPFR_RNDD);
    mpfr_rec_sqrt(y->hi, x->lo, MPFR_RNDU);
    mpfr_swap(y->lo, lo);
    mpfr_clear(lo);
}

static void by_one_minus_sigmoid(tki_interval *y, const tki_interval *x)
{
    tki_interval one;
    tki_interval_init(&one, (int)mpfr_get_prec(y->lo));
    tki_interval_set_d(&one, 1);
    tki_interval_exp(y, x);
    tki_interval_add_d(y, y, 1);
    tki_interval_div(y, &one, y);
    tki_interval_clear(&one);
}

static void by_sigmoid(tki_interval *y, const tki_interval *x)
{
    tki_interval_neg(y, x);
    by_one_minus_sigmoid(y, y);
}

/* log1p(exp x), and x more than that of -x where it is large. */
static void by_softplus(tki_interval *y, const tki_interval *x)
{
    tki_interval t;
    tki_interval_init(&t, (int)mpfr_get_prec(y->lo));
    tki_interval_set(&t, x);
    const bool large = mpfr_sgn(t.lo) > 0;
    if (large)
        tki_interval_neg(y, &t);
    else
        tki_interval_set(y, &t);
    tki_interval_exp(y, y);
    tki_interval_log1p(y, y);
    if (large)
        tki_interval_add(y, y, &t);
    tki_interval_clear(&t);
}

static void by_log_sigmoid(tki_interval *y, const tki_interval *x)
{
    tki_interval_neg(y, x);
    by_softplus(y, y);
    tki_interval_neg(y, y);
}

/* x times a function of it: over an interval wider than it is, but as narrow as the argument. */
static void by_product(tki_interval *y, const tki_interval *x, void (*factor)(tki_interval *, const tki_interval *))
{
    tki_interval t;
    tki_interval_init(&t, (int)mpfr_get_prec(y->lo));
    factor(&t, x);
    tki_interval_mul(y, &t, x);
    tki_interval_clear(&t);
}

static void by_silu(tki_interval *y, const tki_interval *x)
{
    by_product(y, x, by_sigmoid);
}

static void by_tanh_of_softplus(tki_interval *y, const tki_interval *x)
{
    by_softplus(y, x);
    by_tanh(y, y);
}

static void by_mish(tki_interval *y, const tki_interval *x)
{
    by_product(y, x, by_tanh_of_softplus);
}

/* erfc(-x / sqrt 2) / 2 */
static void by_normal_cdf(tki_interval *y, const tki_interval *x)
{
    tki_interval t;
    tki_interval_init(&t, (int)mpfr_get_prec(y->lo));
    tki_interval_set_d(&t, 0.5);
    tki_interval_sqrt(&t, &t);
    tki_interval_mul(&t, &t, x);
    tki_interval_neg(&t, &t);
    mpfr_erfc(y->lo, t.hi, MPFR_RNDD);
    mpfr_erfc(y->hi, t.lo, MPFR_RNDU);
    tki_interval_mul_d(y, y, 0.5);
    tki_interval_clear(&t);
}

static void by_gelu(tki_interval *y, const tki_interval *x)
{
    by_product(y, x, by_normal_cdf);
}

/* sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)) */
static void by_gelu_tanh_factor(tki_interval *y, const tki_interval *x)
{
    tki_interval z, c;
    tki_interval_init(&z, (int)mpfr_get_prec(y->lo));
    tki_interval_init(&c, (int)mpfr_get_prec(y->lo));
    tki_interval_set_ratio(&c, 44715, 1000000);
    tki_interval_mul(&z, x, x);
    tki_interval_mul(&z, &z, &c);
    tki_interval_add_d(&z, &z, 1);
    tki_interval_mul(&z, &z, x);
    tki_interval_set_pi(&c);
    tki_interval_set_d(y, 8);
    tki_interval_div(&c, y, &c);
    tki_interval_sqrt(&c, &c);
    tki_interval_mul(&z, &z, &c);
    by_sigmoid(y, &z);
    tki_interval_clear(&z);
    tki_interval_clear(&c);
}

static void by_gelu_tanh(tki_interval *y, const tki_interval *x)
{
    by_product(y, x, by_gelu_tanh_factor);
}

/* -- At infinity --------------------------------------------------------------------------------------------------- */

static tki_value of_infinity(bool positive)
{
    return tki_value_of_state(positive ? TKI_IS_PLUS_INF : TKI_IS_MINUS_INF);
}

static tki_value to_root(bool positive)
{
    return tki_value_of_state(positive ? TKI_IS_PLUS_INF : TKI_IS_NAN);
}

static tki_value to_inverse_root(bool positive)
{
    return positive ? tki_value_exactly(0) : tki_value_of_state(TKI_IS_NAN);
}

static tki_value to_exp(bool positive)
{
    return positive ? of_infinity(true) : tki_value_exactly(0);
}

static tki_value to_minus_one(bool positive)
{
    return positive ? of_infinity(true) : tki_value_exactly(-1);
}

static tki_value to_signs(bool positive)
{
    return tki_value_exactly(positive ? 1 : -1);
}

static tki_value to_step(bool positive)
{
    return tki_value_exactly(positive);
}

static tki_value to_step_down(bool positive)
{
    return tki_value_exactly(!positive);
}

static tki_value to_log_step(bool positive)
{
    return positive ? tki_value_exactly(0) : of_infinity(false);
}

/* 0, or NaN where it is multiplied with an infinity. */
static tki_value to_gate(bool positive)
{
    tki_value y = positive ? of_infinity(true) : tki_value_exactly(0);
    y.state |= positive ? 0 : TKI_IS_NAN;
    return y;
}

/* -- The table ----------------------------------------------------------------------------------------------------- */

#define ALL -INFINITY, false

/* clang-format off */
static const tki_function functions[TKI_PRIMITIVE_COUNT] = {
    /*                k  argument      t              grows  shape        bend                 domain    range                  infinity         in double             of many           by MPFR */
    [TKI_SQRT]     = {1, 0,            0,             false, TKI_RISING,  0,                   0, false, 0, INFINITY,           to_root,         at_sqrt,      NULL,              tki_interval_sqrt},
    [TKI_RSQRT]    = {4, 0,            0,             false, TKI_FALLING, 0,                   0, true,  0, INFINITY,           to_inverse_root, at_rsqrt,     NULL,              by_rsqrt},
    [TKI_EXP]      = {8, EXP_ARGUMENT, EXP_UNDERFLOW, false, TKI_RISING,  0,                   ALL,      0, INFINITY,           to_exp,          tki_exp,      NULL,              tki_interval_exp},
    [TKI_EXP2]     = {8, EXP_ARGUMENT, EXP_UNDERFLOW, false, TKI_RISING,  0,                   ALL,      0, INFINITY,           to_exp,          at_exp2,      NULL,              by_exp2},
    [TKI_LOG]      = {4, 0,            0,             false, TKI_RISING,  0,                   0, true,  -INFINITY, INFINITY,   to_root,         tki_log,      NULL,              by_log},
    [TKI_LOG1P]    = {8, 0,            0x1p-149,      false, TKI_RISING,  0,                   -1, true, -INFINITY, INFINITY,   to_root,         tki_log1p,    NULL,              tki_interval_log1p},
    [TKI_EXPM1]    = {8, EXP_ARGUMENT, EXP_UNDERFLOW, false, TKI_RISING,  0,                   ALL,      -1, INFINITY,          to_minus_one,    tki_expm1,    NULL,              by_expm1},
    [TKI_TANH]     = {8, EXP_ARGUMENT, EXP_UNDERFLOW, false, TKI_RISING,  0,                   ALL,      -1, 1,                 to_signs,        tki_tanh,     NULL,              by_tanh},
    [TKI_ERF]      = {8, EXP_ARGUMENT, EXP_UNDERFLOW, false, TKI_RISING,  0,                   ALL,      -1, 1,                 to_signs,        tki_erf,      NULL,              by_erf},
    [TKI_SIGMOID]  = {8, EXP_ARGUMENT, EXP_UNDERFLOW, false, TKI_RISING,  0,                   ALL,      0, 1,                  to_step,         tki_sigmoid,  tki_sigmoid_all,   by_sigmoid},
    [TKI_SILU]     = {8, EXP_ARGUMENT, EXP_UNDERFLOW, true,  TKI_VALLEY,  -1.2784645427610738, ALL,      -0.2785, INFINITY,     to_gate,         tki_silu,     tki_silu_all,      by_silu},
    [TKI_SOFTPLUS] = {8, EXP_ARGUMENT, EXP_UNDERFLOW, false, TKI_RISING,  0,                   ALL,      0, INFINITY,           to_exp,          tki_softplus, tki_softplus_all,  by_softplus},
    [TKI_MISH]     = {8, EXP_ARGUMENT, EXP_UNDERFLOW, true,  TKI_VALLEY,  -1.1924312145154206, ALL,      -0.3089, INFINITY,     to_gate,         tki_mish,     tki_mish_all,      by_mish},
    [TKI_GELU]     = {8, EXP_ARGUMENT, EXP_UNDERFLOW, true,  TKI_VALLEY,  -0.7517915246935645, ALL,      -0.17, INFINITY,       to_gate,         at_gelu,      NULL,              by_gelu},
    [TKI_GELU_TANH] = {8, 0,           EXP_UNDERFLOW, true,  TKI_VALLEY,  -0.7524614220710162, ALL,      -0.1701, INFINITY,     to_gate,         tki_gelu_tanh, NULL,              by_gelu_tanh},
    [TKI_NORMAL_CDF] = {8, EXP_ARGUMENT, EXP_UNDERFLOW, false, TKI_RISING, 0,                  ALL,      0, 1,                  to_step,         tki_normal_cdf, NULL,              by_normal_cdf},
    [TKI_ONE_MINUS_SIGMOID] = {8, EXP_ARGUMENT, EXP_UNDERFLOW, false, TKI_FALLING, 0,          ALL,      0, 1,                  to_step_down,    at_one_minus_sigmoid, NULL,              by_one_minus_sigmoid},
    [TKI_LOG_SIGMOID] = {8, EXP_ARGUMENT, EXP_UNDERFLOW, false, TKI_RISING, 0,                 ALL,      -INFINITY, 0,          to_log_step,     at_log_sigmoid, NULL,              by_log_sigmoid},
};
/* clang-format on */

const tki_function *tki_function_of(tki_primitive primitive)
{
    return functions[primitive].at ? &functions[primitive] : NULL;
}

/* -- The rule ------------------------------------------------------------------------------------------------------ */

static double below(double y)
{
    return y - (fabs(y) * (2 * TKI_ELEMENTARY_ERROR) + TKI_ELEMENTARY_TINY);
}

static double above(double y)
{
    return y + (fabs(y) * (2 * TKI_ELEMENTARY_ERROR) + TKI_ELEMENTARY_TINY);
}

/* Infinite beyond TKI_EXP_END, where the function is at least 2^1015: `below` then has that. */
static double below_overflow(double y)
{
    return y == INFINITY ? 0x1p1000 : below(y);
}

void tki_function_enclose(const tki_elementary *t, const tki_function *f, double least, double most, double *lo,
                          double *hi)
{
    const double a = f->at(t, least), b = least == most ? a : f->at(t, most);
    *lo = below_overflow(fmin(a, b));
    *hi = above(fmax(a, b));
    if (f->shape == TKI_VALLEY && least < f->bend && most > f->bend)
        *lo = below(f->at(t, f->bend));
}

/* gelu_tanh: 2z is off by 4 u |2z| =: s, and the logarithm of sigmoid(2z) has a slope below 1 - sigmoid(2z). Where s is not small, nothing is
 * left of the function below zero, and nothing is lost above. */
static double own_error(const tki_elementary *t, tki_primitive primitive, double magnitude, double least, double most)
{
    if (primitive != TKI_GELU_TANH)
        return 0;
    const double low = tki_gelu_tanh_argument(least), high = tki_gelu_tanh_argument(most);
    const double off = 4 * TKI_U * fmin(fmax(fabs(low), fabs(high)), 0x1p15);
    return magnitude * off * (1 + off) * fmin(1, tki_sigmoid(t, -low + off) * (1 + 0x1p-30));
}

static tki_value of_finite(const tki_elementary *t, tki_primitive primitive, const tki_value *a, bool flushes)
{
    const tki_function *f = &functions[primitive];
    const double magnitude = fmax(fabs(a->l), fabs(a->h)), off = f->perturbed * TKI_U * magnitude;
    const double least = a->l - off * TKI_DOUBLE_SLACK, most = a->h + off * TKI_DOUBLE_SLACK;
    if (f->open ? !(a->l > f->least) : !(a->l >= f->least))
        return tki_value_of_state(TKI_IS_UNKNOWN);
    double lo, hi, reach_lo, reach_hi;
    tki_function_enclose(t, f, tki_value_least(a), tki_value_most(a), &lo, &hi);
    if (least == most) {
        reach_lo = lo;
        reach_hi = hi;
    } else {
        tki_function_enclose(t, f, least, most, &reach_lo, &reach_hi);
    }
    if (!(lo < TKI_FUNCTION_END)) /* of those that end somewhere, all rise to +inf */
        return tki_value_of_state(TKI_IS_UNKNOWN);
    if (!(hi < TKI_FUNCTION_END))
        return tki_value_of_state(TKI_IS_UNKNOWN);
    const double v = 0.5 * (lo + hi);
    double underflow = f->underflow * (f->grows ? fmax(1, magnitude) : 1);
    if (flushes)
        underflow = fmax(underflow, TKI_FP32_SMALLEST_NORMAL);
    const double size = fmax(fabs(reach_lo), fabs(reach_hi));
    const double moved = fmax(fmax(reach_hi - lo, hi - reach_lo), 0) + own_error(t, primitive, size, least, most);
    const double wider = f->budget * TKI_U * TKI_DOUBLE_SLACK;
    return tki_value_rounded(v, 0.5 * (hi - lo) * TKI_DOUBLE_SLACK + TKI_DOUBLE_TINY,
                             a->e == 0 && least == most && primitive != TKI_GELU_TANH ? 0 : moved, f->budget,
                             underflow, f->range_least - wider * fabs(f->range_least),
                             f->range_most + wider * fabs(f->range_most));
}

/* -- The rule, for blocks -------------------------------------------------------------------------------------------- */

static void evaluate_all(const tki_function *f, const tki_elementary *t, const double x[], int count, double y[])
{
    if (f->at_all)
        f->at_all(t, x, count, y);
    for (int i = 0; i < count && !f->at_all; i++)
        y[i] = f->at(t, x[i]);
}

/* What the function is at four places of each element: at the ends of the exact value, and of what an evaluation may have as argument. */
typedef struct reached {
    double least[TKI_LANES], most[TKI_LANES], near_least[TKI_LANES], near_most[TKI_LANES];
    double at_least[TKI_LANES], at_most[TKI_LANES], at_near_least[TKI_LANES], at_near_most[TKI_LANES];
    double own[TKI_LANES];
} reached;

TKI_INLINE bool plain_find_ends(const tki_function *f, const tki_lines *a, int count, reached *r)
{
    const tki_four begin = tki_fours(f->least);
    tki_four_bits outside = {0};
    for (int i = 0; i < count; i += 4) {
        const tki_known x = tki_known_at(a, i);
        const tki_four magnitude = tki_four_above(tki_four_size(x.l), tki_four_size(x.h));
        const tki_four off = f->perturbed * TKI_U * magnitude;
        outside |= f->open ? ~(x.l > begin) : ~(x.l >= begin);
        tki_four_store(r->least + i, tki_known_least(&x));
        tki_four_store(r->most + i, tki_known_most(&x));
        tki_four_store(r->near_least + i, x.l - off * TKI_DOUBLE_SLACK);
        tki_four_store(r->near_most + i, x.h + off * TKI_DOUBLE_SLACK);
    }
    return !tki_four_any(outside);
}

TKI_FOR_WIDTHS(static, bool, return, find_ends, (const tki_function *f, const tki_lines *a, int count, reached *r),
               (f, a, count, r))

/* As tki_function_enclose() has it. */
TKI_INLINE void enclose_four(const tki_function *f, double lowest, tki_four least, tki_four most, tki_four a,
                             tki_four b, tki_four *lo, tki_four *hi)
{
    const tki_four bend = tki_fours(f->bend), end = tki_fours(INFINITY);
    const tki_four low = tki_four_below(a, b), high = tki_four_above(a, b);
    const tki_four under = low - (tki_four_size(low) * (2 * TKI_ELEMENTARY_ERROR) + TKI_ELEMENTARY_TINY);
    *lo = tki_four_choose(low == end, tki_fours(0x1p1000), under);
    *hi = high + (tki_four_size(high) * (2 * TKI_ELEMENTARY_ERROR) + TKI_ELEMENTARY_TINY);
    if (f->shape == TKI_VALLEY)
        *lo = tki_four_choose((least < bend) & (most > bend), tki_fours(lowest), *lo);
}

TKI_INLINE bool plain_carry(const tki_function *f, double lowest, bool flushes, bool always_moved, const tki_lines *a,
                            const reached *r, int count, tki_block *y)
{
    const double wider = f->budget * TKI_U * TKI_DOUBLE_SLACK;
    const tki_four zero = {0}, end = tki_fours(TKI_FUNCTION_END);
    tki_four_bits refused = {0};
    for (int i = 0; i < count; i += 4) {
        const tki_known x = tki_known_at(a, i);
        const tki_four magnitude = tki_four_above(tki_four_size(x.l), tki_four_size(x.h));
        const tki_four least = tki_four_load(r->near_least + i), most = tki_four_load(r->near_most + i);
        tki_four lo, hi, reach_lo, reach_hi;
        enclose_four(f, lowest, tki_four_load(r->least + i), tki_four_load(r->most + i),
                     tki_four_load(r->at_least + i), tki_four_load(r->at_most + i), &lo, &hi);
        enclose_four(f, lowest, least, most, tki_four_load(r->at_near_least + i), tki_four_load(r->at_near_most + i),
                     &reach_lo, &reach_hi);
        refused |= ~((lo < end) & (hi < end));
        tki_four underflow = f->underflow * (f->grows ? tki_four_above(tki_fours(1), magnitude) : tki_fours(1));
        if (flushes)
            underflow = tki_four_above(underflow, tki_fours(TKI_FP32_SMALLEST_NORMAL));
        const tki_four moved = tki_four_above(tki_four_above(reach_hi - lo, hi - reach_lo), zero) +
                               tki_four_load(r->own + i);
        const tki_four_bits stays = (x.e == zero) & (least == most);
        tki_known one = {.v = 0.5 * (lo + hi),
                         .d = 0.5 * (hi - lo) * TKI_DOUBLE_SLACK + TKI_DOUBLE_TINY,
                         .e = always_moved ? moved : tki_four_choose(stays, zero, moved),
                         .l = tki_fours(f->range_least - wider * fabs(f->range_least)),
                         .h = tki_fours(f->range_most + wider * fabs(f->range_most))};
        refused |= tki_known_round(&one, f->budget, underflow);
        tki_known_put(y, i, &one);
    }
    return !tki_four_any(refused);
}

TKI_FOR_WIDTHS(static, bool, return, carry,
               (const tki_function *f, double lowest, bool flushes, bool always_moved, const tki_lines *a,
                const reached *r, int count, tki_block *y),
               (f, lowest, flushes, always_moved, a, r, count, y))

bool tki_function_block(const tki_rules *rules, tki_primitive primitive, const tki_block *a, int count, tki_block *y)
{
    const tki_function *f = &functions[primitive];
    const tki_elementary *t = rules->tables;
    const tki_lines lines = tki_lines_of(a);
    const bool has_own = primitive == TKI_GELU_TANH;
    const double lowest = f->shape == TKI_VALLEY ? below(f->at(t, f->bend)) : 0;
    reached r;
    count = tki_filled(count);
    y->exact = false;
    y->depth = 0;
    if (!find_ends(f, &lines, count, &r))
        return false;
    evaluate_all(f, t, r.least, count, r.at_least);
    if (a->exact)
        memcpy(r.at_most, r.at_least, sizeof r.at_most);
    else
        evaluate_all(f, t, r.most, count, r.at_most);
    if (a->exact && f->perturbed == 0) {
        memcpy(r.at_near_least, r.at_least, sizeof r.at_least);
        memcpy(r.at_near_most, r.at_least, sizeof r.at_least);
    } else {
        evaluate_all(f, t, r.near_least, count, r.at_near_least);
        evaluate_all(f, t, r.near_most, count, r.at_near_most);
    }
    for (int i = 0; i < count; i++) {
        double lo, hi;
        r.own[i] = 0;
        if (!has_own)
            continue;
        tki_function_enclose(t, f, r.near_least[i], r.near_most[i], &lo, &hi);
        r.own[i] = own_error(t, primitive, fmax(fabs(lo), fabs(hi)), r.near_least[i], r.near_most[i]);
    }
    return carry(f, lowest, rules->flushes, has_own, &lines, &r, count, y);
}

tki_value tki_function_value(const tki_elementary *t, tki_primitive primitive, const tki_value *a, bool flushes)
{
    tki_value y = {.state = 0};
    if (a->state & TKI_IS_FINITE)
        y = of_finite(t, primitive, a, flushes);
    if (a->state == TKI_IS_FINITE)
        return y;
    tki_value rest = tki_value_of_state(a->state & (TKI_IS_NAN | TKI_IS_UNKNOWN));
    y = tki_value_either(&y, &rest);
    for (int positive = 0; positive < 2; positive++)
        if (a->state & (positive ? TKI_IS_PLUS_INF : TKI_IS_MINUS_INF)) {
            rest = functions[primitive].at_infinity(positive);
            y = tki_value_either(&y, &rest);
        }
    return y;
}
