/* DECIDES. Elementary functions in double. Errors below are relative and in units of 2^-53 unless they say otherwise; each function has far
 * less than the 2048 of them that the header claims. */
#include "exact/elementary.h"

#include <math.h>
#include <stdatomic.h>

#include "exact/four.h"
#include "exact/kept_table.h"
#include "exact/round.h"

enum {
    LOG_STEPS = 128,     /* log a for a = 1 + j / 128 */
    ERFCX_PER_UNIT = 16, /* pieces of exp(y^2) erfc(y) over [0, 16) */
    ERFCX_PIECES = 16 * ERFCX_PER_UNIT,
    ERFCX_TERMS = 13,
    ERF_TERMS = 12, /* below ERF_SMALL */
    PRECISION = 300
};

#define ERF_SMALL 0.5
#define LN_2 0x1.62e42fefa39efp-1
#define HALF_SQRT_2 0x1.6a09e667f3bcdp-1
#define TWO_OVER_SQRT_PI 0x1.20dd750429b6dp+0

struct tki_elementary {
    const tki_exp_pieces *exp;
    double log[LOG_STEPS];
    double erfcx[ERFCX_PIECES][ERFCX_TERMS]; /* Taylor coefficients around the middle of each piece */
    double erf[ERF_TERMS];                   /* 2 / sqrt(pi) (-1)^n / (n! (2n + 1)) */
};

/* With f' = 2 y f - 2 / sqrt(pi) at the middle y: c1 = 2 y c0 - 2 / sqrt(pi), and (n + 1) c(n+1) = 2 y c(n) + 2 c(n-1). What cancels in
 * that is much less than the precision has. */
static void fill_erfcx(tki_elementary *t)
{
    mpfr_t y, term, c[ERFCX_TERMS];
    mpfr_inits2(PRECISION, y, term, (mpfr_ptr)0);
    for (int n = 0; n < ERFCX_TERMS; n++)
        mpfr_init2(c[n], PRECISION);
    for (int j = 0; j < ERFCX_PIECES; j++) {
        mpfr_set_d(y, (j + 0.5) / ERFCX_PER_UNIT, MPFR_RNDN);
        mpfr_sqr(term, y, MPFR_RNDN);
        mpfr_exp(term, term, MPFR_RNDN);
        mpfr_erfc(c[0], y, MPFR_RNDN);
        mpfr_mul(c[0], c[0], term, MPFR_RNDN);
        mpfr_const_pi(term, MPFR_RNDN);
        mpfr_rec_sqrt(term, term, MPFR_RNDN);
        mpfr_mul(c[1], c[0], y, MPFR_RNDN);
        mpfr_sub(c[1], c[1], term, MPFR_RNDN);
        mpfr_mul_ui(c[1], c[1], 2, MPFR_RNDN);
        for (int n = 1; n + 1 < ERFCX_TERMS; n++) {
            mpfr_mul(term, c[n], y, MPFR_RNDN);
            mpfr_add(term, term, c[n - 1], MPFR_RNDN);
            mpfr_mul_ui(term, term, 2, MPFR_RNDN);
            mpfr_div_ui(c[n + 1], term, (unsigned long)n + 1, MPFR_RNDN);
        }
        for (int n = 0; n < ERFCX_TERMS; n++)
            t->erfcx[j][n] = mpfr_get_d(c[n], MPFR_RNDN);
    }
    for (int n = 0; n < ERFCX_TERMS; n++)
        mpfr_clear(c[n]);
    mpfr_clears(y, term, (mpfr_ptr)0);
}

/* Made before what refers to it: no table is made while another one is. */
static const tki_exp_pieces *_Atomic exp_pieces;

static void fill(void *table)
{
    tki_elementary *t = table;
    mpfr_t x;
    mpfr_init2(x, PRECISION);
    for (int j = 0; j < LOG_STEPS; j++) {
        mpfr_set_d(x, 1 + j / (double)LOG_STEPS, MPFR_RNDN);
        mpfr_log(x, x, MPFR_RNDN);
        t->log[j] = mpfr_get_d(x, MPFR_RNDN);
    }
    mpfr_const_pi(x, MPFR_RNDN);
    mpfr_rec_sqrt(x, x, MPFR_RNDN);
    mpfr_mul_ui(x, x, 2, MPFR_RNDN);
    for (int n = 0; n < ERF_TERMS; n++) { /* x is 2 / sqrt(pi) (-1)^n / n! */
        t->erf[n] = mpfr_get_d(x, MPFR_RNDN) / (2 * n + 1);
        mpfr_div_si(x, x, -(n + 1), MPFR_RNDN);
    }
    mpfr_clear(x);
    fill_erfcx(t);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    t->exp = atomic_load(&exp_pieces);
}

tk_status tki_elementary_open(const tki_elementary **tables)
{
    static tki_kept_single kept = {.bytes = sizeof(tki_elementary), .fill = fill};
    void *table = NULL;
    const tki_exp_pieces *pieces;
    tk_status status = tki_exp_pieces_open(&pieces);
    atomic_store(&exp_pieces, pieces);
    if (status == TK_OK)
        status = tki_kept_single_open(&kept, &table);
    *tables = table;
    return status;
}

/* -- exp ----------------------------------------------------------------------------------------------------------- */

/* At most 4 + 1/16 by tki_exp_minus(), and 1 for the division; it is zero below 2^-1015. */
double tki_exp(const tki_elementary *t, double x)
{
    if (x <= 0)
        return tki_exp_minus(t->exp, -x);
    return x < TKI_EXP_END ? 1 / tki_exp_minus(t->exp, x) : INFINITY;
}

/* tki_exp_minus() of four, with the same roundings. */
TKI_INLINE tki_four exp_minus_four(const tki_exp_pieces *pieces, tki_four d)
{
    const tki_four zero = {0};
    const tki_four_bits near = d < tki_fours(TKI_EXP_CUT);
    const double shift = 0x1.8p52;
    d = tki_four_choose(near, d, zero);
    const tki_four shifted = d * TKI_EXP_STEPS + shift, r = d - (shifted - shift) * (1.0 / TKI_EXP_STEPS);
    const tki_four_bits n = (tki_four_bits)shifted & UINT32_MAX;
    const tki_four q = -r * (1 - r * (0.5 - r * (1.0 / 6 - r * (1.0 / 24 - r * (1.0 / 120)))));
    tki_four unit, step;
    for (int k = 0; k < 4; k++) {
        unit[k] = pieces->unit[n[k] / TKI_EXP_STEPS];
        step[k] = pieces->step[n[k] % TKI_EXP_STEPS];
    }
    const tki_four t = unit * step;
    return tki_four_choose(near, t + t * q, zero);
}

TKI_INLINE void plain_tki_exp_minus_all(const tki_elementary *t, const double d[], int count, double y[])
{
    int i = 0;
    for (; i + 4 <= count; i += 4)
        tki_four_store(y + i, exp_minus_four(t->exp, tki_four_load(d + i)));
    for (; i < count; i++)
        y[i] = tki_exp_minus(t->exp, d[i]);
}

TKI_FOR_WIDTHS(, void, , tki_exp_minus_all, (const tki_elementary *t, const double d[], int count, double y[]),
               (t, d, count, y))

/* Taylor's series leaves out less than 0.25^14 / 15! of the sum, 2^-68; its terms from the second on are below 1/7 of it, so that
 * their roundings make less than 3. From 1/4 on 1 is at most 4.6 times what is left, or exp() at most 3.6 times: less than 5.1 x 4.6 + 1. */
double tki_expm1(const tki_elementary *t, double x)
{
    if (fabs(x) >= 0.25)
        return tki_exp(t, x) - 1;
    double sum = 0;
    for (int n = 14; n >= 2; n--)
        sum = (sum + 1) * x * (1.0 / n);
    return x + x * sum;
}

/* -- log ----------------------------------------------------------------------------------------------------------- */

/* 2 artanh(s), where |s| <= 1/15: the series leaves out less than 15^-16 / 17 of the sum, 2^-66. Its roundings make less than 3. */
static double twice_artanh(double s)
{
    const double square = s * s;
    double series = 0;
    for (int n = 15; n >= 3; n -= 2)
        series = (series + 1.0 / n) * square;
    return 2 * (s + s * series);
}

/* Within 1/8 of 1: x - 1 is exact, and as in log1p(). Otherwise |log x| > 0.117; x = m 2^k with m in [1, 2), and m = a (1 + r) with
 * a = 1 + j / 128, so log x = k ln 2 + log a + 2 artanh((m - a) / (m + a)), whose last term is below 1/127. Absolute errors: k ln 2 has 2 of
 * itself, log a 1, the last term 5 of itself, and there are two additions; |k ln 2| and log a are at most 8 |log x|. Less than 60. */
double tki_log(const tki_elementary *t, double x)
{
    if (x > 0.875 && x < 1.125)
        return tki_log1p(t, x - 1);
    int k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        k = -54;
    }
    k += tki_double_exponent_field(x) - TKI_DOUBLE_BIAS;
    const double m = tki_double_from_bits((tki_double_bits(x) & (TKI_DOUBLE_HIDDEN - 1)) | (uint64_t)TKI_DOUBLE_BIAS
                                                                                               << 52);
    const int j = (int)((m - 1) * LOG_STEPS);
    const double a = 1 + j / (double)LOG_STEPS;
    return k * LN_2 + (t->log[j] + twice_artanh((m - a) / (m + a)));
}

/* Below 1/8 in size the quotient has 2 and the series 3. Otherwise 1 + x is rounded, which changes the logarithm, of more than 0.117, by at
 * most 1 in absolute terms: less than 9, and what log() has. */
double tki_log1p(const tki_elementary *t, double x)
{
    return fabs(x) < 0.125 ? twice_artanh(x / (2 + x)) : tki_log(t, 1 + x);
}

/* -- On exp -------------------------------------------------------------------------------------------------------- */

/* Here and below: exp() is at most 1, so nothing overflows, and sums have terms of one sign, so that their errors are those of their terms
 * and their own roundings: less than 64 each, but for tanh, whose t + 2 is at least 1 with an error of t's. */
double tki_tanh(const tki_elementary *t, double x)
{
    const double e = tki_expm1(t, -2 * fabs(x));
    return copysign(e / (e + 2), x);
}

/* Of x and e = exp(-|x|). */
static double sigmoid_of(const tki_elementary *t, double x, double e)
{
    (void)t;
    return (x < 0 ? e : 1) / (1 + e);
}

static double silu_of(const tki_elementary *t, double x, double e)
{
    return x * sigmoid_of(t, x, e);
}

static double softplus_of(const tki_elementary *t, double x, double e)
{
    return fmax(x, 0) + tki_log1p(t, e);
}

/* tanh(log(1 + exp x)) = n / (n + 2), n = exp x (exp x + 2). */
static double mish_of(const tki_elementary *t, double x, double e)
{
    (void)t;
    const double n = x < 0 ? e * (e + 2) : 1 + 2 * e;
    return x * (n / (n + (x < 0 ? 2 : 2 * e * e)));
}

/* The same of four. */
TKI_INLINE tki_four four_sigmoid_of(const tki_elementary *t, tki_four x, tki_four e)
{
    const tki_four zero = {0};
    (void)t;
    return tki_four_choose(x < zero, e, tki_fours(1)) / (1 + e);
}

TKI_INLINE tki_four four_silu_of(const tki_elementary *t, tki_four x, tki_four e)
{
    return x * four_sigmoid_of(t, x, e);
}

/* 1 + e is below 2, or 2: log1p() takes no power of two out of it, or has nothing left. */
TKI_INLINE tki_four four_softplus_of(const tki_elementary *t, tki_four x, tki_four e)
{
    const tki_four zero = {0}, one = tki_fours(1);
    const tki_four_bits small = e < tki_fours(0.125), whole = 1 + e >= tki_fours(2);
    const tki_four m = tki_four_choose(small | whole, one, 1 + e);
    tki_four a, log;
    for (int k = 0; k < 4; k++) {
        const int j = (int)((m[k] - 1) * LOG_STEPS);
        a[k] = 1 + j / (double)LOG_STEPS;
        log[k] = t->log[j];
    }
    const tki_four s = tki_four_choose(small, e, m - a) / tki_four_choose(small, 2 + e, m + a), square = s * s;
    tki_four series = {0};
#pragma GCC unroll 8
    for (int n = 15; n >= 3; n -= 2)
        series = (series + 1.0 / n) * square;
    log += 2 * (s + s * series);
    return tki_four_above(zero, x) + tki_four_choose(whole, tki_fours(LN_2), log);
}

TKI_INLINE tki_four four_mish_of(const tki_elementary *t, tki_four x, tki_four e)
{
    const tki_four zero = {0};
    const tki_four_bits negative = x < zero;
    const tki_four n = tki_four_choose(negative, e * (e + 2), 1 + 2 * e);
    (void)t;
    return x * (n / (n + tki_four_choose(negative, tki_fours(2), 2 * e * e)));
}

/* Of one, and of many. */
#define OF_EXP(name)                                                                                               \
    double tki_##name(const tki_elementary *t, double x)                                                           \
    {                                                                                                              \
        return name##_of(t, x, tki_exp(t, -fabs(x)));                                                              \
    }                                                                                                              \
    TKI_INLINE void plain_tki_##name##_all(const tki_elementary *t, const double x[], int count, double y[])       \
    {                                                                                                              \
        int i = 0;                                                                                                 \
        for (; i + 4 <= count; i += 4) {                                                                           \
            const tki_four four = tki_four_load(x + i);                                                            \
            tki_four_store(y + i, four_##name##_of(t, four, exp_minus_four(t->exp, tki_four_size(four))));         \
        }                                                                                                          \
        for (; i < count; i++)                                                                                     \
            y[i] = tki_##name(t, x[i]);                                                                            \
    }                                                                                                              \
    TKI_FOR_WIDTHS(, void, , tki_##name##_all, (const tki_elementary *t, const double x[], int count, double y[]), \
                   (t, x, count, y))

OF_EXP(sigmoid)
OF_EXP(silu)
OF_EXP(softplus)
OF_EXP(mish)

/* -- The normal distribution --------------------------------------------------------------------------------------- */

/* exp(y^2) erfc(y) for y >= 0, by Taylor's series around the middle of a piece. Its coefficients have alternating signs, and c(n) is at most
 * c(0) / Gamma(n/2 + 1): the integral over exp(-t^2 - 2 t y) of (2t)^n / n!, of which a larger y makes less. With |h| <= 1/32 the sum leaves
 * out less than 2^-70, and roundings make less than 3. The argument's error is at most 2, and changes the result by no more of itself: its
 * logarithm's slope times y is below 1. 0 from 16 on: exp(-y^2) is below 2^-369. */
static double erfcx(const tki_elementary *t, double y)
{
    if (!(y < ERFCX_PIECES / ERFCX_PER_UNIT))
        return 0;
    const int j = (int)(y * ERFCX_PER_UNIT);
    const double h = y - (j + 0.5) / ERFCX_PER_UNIT;
    double sum = 0;
    for (int n = ERFCX_TERMS - 1; n >= 0; n--)
        sum = sum * h + t->erfcx[j][n];
    return sum;
}

/* exp(-scale y^2) for y below 32 and a scale of 1 or 1/2. The square of the leading 26 bits is exact; what is missing is below 2^-24 of
 * it, so that its roundings are below 2^-66, and so is what the sum loses. */
static double exp_minus_square(const tki_elementary *t, double y, double scale)
{
    const double head = tki_double_from_bits(tki_double_bits(y) & ~(uint64_t)((1 << 27) - 1));
    const double square = scale * (head * head);
    const double rest = scale * ((y - head) * (y + head));
    const double high = square + rest;
    return tki_exp_minus_sum(t->exp, high, rest - (high - square));
}

/* Below 1/2 by its series, of alternating terms of which each is below 1/12 of that before: it leaves out less than 2^-57. Above, erfc is at
 * most 0.48, and 1 minus it at least 0.52. */
double tki_erf(const tki_elementary *t, double x)
{
    const double y = fabs(x);
    if (y < ERF_SMALL) {
        double sum = 0;
        for (int n = ERF_TERMS - 1; n >= 0; n--)
            sum = sum * (y * y) + t->erf[n];
        return x * sum;
    }
    const double tail = y < 16 ? exp_minus_square(t, y, 1) * erfcx(t, y) : 0;
    return copysign(1 - tail, x);
}

double tki_normal_cdf(const tki_elementary *t, double x)
{
    const double y = fabs(x);
    const double tail = y < 22.5 ? 0.5 * exp_minus_square(t, y, 0.5) * erfcx(t, y * HALF_SQRT_2) : 0;
    return x < 0 ? tail : 1 - tail;
}

double tki_gelu_tanh_argument(double x)
{
    return 0x1.9884533d43651p+0 * (x * (1 + 0.044715 * (x * x)));
}

/* 2z has 7, which the tail of the sigmoid multiplies by at most |2z|: less than 1900 up to |2z| = 260, from where on the result is below
 * TKI_ELEMENTARY_TINY. */
double tki_gelu_tanh(const tki_elementary *t, double x)
{
    return x * tki_sigmoid(t, tki_gelu_tanh_argument(x));
}
