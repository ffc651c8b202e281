/* Intervals (exact/interval.h): every operation contains the true result, is as tight as its precision, and may write over
 * its own operands. The reference is the same operation on random members of the operands in far higher precision. */
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/random.h"
#include "exact/interval.h"
#include "tests/unit_test.h"

enum { HIGH = 600, ROUNDS = 4000 };

static const int precisions[] = {2, 24, 53, 64, 128};

static tki_random source;

static double draw(void)
{
    return ldexp(tki_random_normal(&source), (int)tki_random_below(&source, 80) - 40);
}

/* A random interval: a point, a thin or a wide one, with zero inside or at its end now and then. */
static void draw_interval(tki_interval *x)
{
    double a = draw();
    double b = draw();
    switch (tki_random_below(&source, 6)) {
    case 0: b = a; break;
    case 1: b = a * (1 + 0x1p-40); break;
    case 2: a = 0; break;
    case 3: a = -b; break;
    default: break;
    }
    mpfr_set_d(x->lo, fmin(a, b), MPFR_RNDD);
    mpfr_set_d(x->hi, fmax(a, b), MPFR_RNDU);
}

/* A member: an end or something between. */
static void draw_member(mpfr_ptr member, const tki_interval *x)
{
    uint64_t kind = tki_random_below(&source, 4);
    if (kind < 2) {
        mpfr_set(member, kind ? x->lo : x->hi, MPFR_RNDN);
        return;
    }
    mpfr_sub(member, x->hi, x->lo, MPFR_RNDN);
    mpfr_mul_d(member, member, tki_random_unit(&source), MPFR_RNDN);
    mpfr_add(member, member, x->lo, MPFR_RNDN);
    if (mpfr_greater_p(member, x->hi))
        mpfr_set(member, x->hi, MPFR_RNDN);
}

static void assert_contains(const tki_interval *x, mpfr_srcptr value, const char *operation)
{
    if (!(mpfr_lessequal_p(x->lo, value) && mpfr_lessequal_p(value, x->hi)))
        fail_msg("%s: %.17g is not in [%.17g, %.17g]", operation, mpfr_get_d(value, MPFR_RNDN),
                 mpfr_get_d(x->lo, MPFR_RNDN), mpfr_get_d(x->hi, MPFR_RNDN));
}

/* The value lies inside up to an error of the reference itself, which is relative and far below the interval's precision. */
static void assert_nearly_contains(const tki_interval *x, mpfr_ptr value, const char *operation)
{
    mpfr_t slack;
    mpfr_init2(slack, HIGH);
    mpfr_abs(slack, value, MPFR_RNDU);
    mpfr_mul_2si(slack, slack, -HIGH + 8, MPFR_RNDU);
    bool inside = true;
    mpfr_add(value, value, slack, MPFR_RNDU);
    inside = inside && mpfr_lessequal_p(x->lo, value);
    mpfr_sub(value, value, slack, MPFR_RNDD);
    mpfr_sub(value, value, slack, MPFR_RNDD);
    inside = inside && mpfr_lessequal_p(value, x->hi);
    if (!inside)
        fail_msg("%s: %.17g is not in [%.17g, %.17g]", operation, mpfr_get_d(value, MPFR_RNDN),
                 mpfr_get_d(x->lo, MPFR_RNDN), mpfr_get_d(x->hi, MPFR_RNDN));
    mpfr_clear(slack);
}

static bool same(const tki_interval *x, const tki_interval *y)
{
    return mpfr_equal_p(x->lo, y->lo) && mpfr_equal_p(x->hi, y->hi);
}

typedef struct binary {
    const char *name;
    void (*interval)(tki_interval *, const tki_interval *, const tki_interval *);
    int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
    bool no_zero; /* in the second operand */
} binary;

static const binary binaries[] = {
    {"add", tki_interval_add, mpfr_add, false},
    {"sub", tki_interval_sub, mpfr_sub, false},
    {"mul", tki_interval_mul, mpfr_mul, false},
    {"div", tki_interval_div, mpfr_div, true},
};

typedef enum domain { ANY, MODERATE, NOT_NEGATIVE, ABOVE_MINUS_ONE } domain;

typedef struct unary {
    const char *name;
    void (*interval)(tki_interval *, const tki_interval *);
    int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
    domain domain;
} unary;

static const unary unaries[] = {
    {"set", tki_interval_set, mpfr_set, ANY},
    {"neg", tki_interval_neg, mpfr_neg, ANY},
    {"sqrt", tki_interval_sqrt, mpfr_sqrt, NOT_NEGATIVE},
    {"exp", tki_interval_exp, mpfr_exp, MODERATE},
    {"log1p", tki_interval_log1p, mpfr_log1p, ABOVE_MINUS_ONE},
};

enum { UNARIES = sizeof unaries / sizeof *unaries };

static bool in_domain(domain d, const tki_interval *x)
{
    switch (d) {
    case ANY: return true;
    case MODERATE: return mpfr_cmp_si(x->lo, -5000) > 0 && mpfr_cmp_si(x->hi, 5000) < 0;
    case NOT_NEGATIVE: return mpfr_sgn(x->lo) >= 0;
    case ABOVE_MINUS_ONE: return mpfr_cmp_si(x->lo, -1) > 0;
    }
    return false;
}

/* Containment, and the three aliasings give the very same result as a fresh place that holds noise. */
TEST(binary_operations)
{
    source = tki_random_stream(1, 0);
    tki_interval a;
    tki_interval b;
    tki_interval x;
    tki_interval y;
    mpfr_t p;
    mpfr_t q;
    mpfr_inits2(HIGH, p, q, (mpfr_ptr)0);
    for (int i = 0; i < ROUNDS; i++) {
        const binary *op = &binaries[i % 4];
        int precision = precisions[i / 4 % 5];
        tki_interval_init(&a, precision);
        tki_interval_init(&b, precision);
        tki_interval_init(&x, precision);
        tki_interval_init(&y, precision);
        draw_interval(&a);
        draw_interval(&b);
        draw_interval(&x); /* noise */
        if (!op->no_zero || mpfr_sgn(b.lo) > 0 || mpfr_sgn(b.hi) < 0) {
            op->interval(&x, &a, &b);
            assert_true(mpfr_lessequal_p(x.lo, x.hi));
            for (int k = 0; k < 4; k++) {
                draw_member(p, &a);
                draw_member(q, &b);
                op->exact(p, p, q, MPFR_RNDN);
                assert_nearly_contains(&x, p, op->name);
            }
            tki_interval_set(&y, &a);
            op->interval(&y, &y, &b);
            assert_true(same(&x, &y));
            tki_interval_set(&y, &b);
            op->interval(&y, &a, &y);
            assert_true(same(&x, &y));
        }
        if (!op->no_zero || mpfr_sgn(a.lo) > 0 || mpfr_sgn(a.hi) < 0) {
            op->interval(&x, &a, &a);
            op->interval(&a, &a, &a);
            assert_true(same(&x, &a));
        }
        tki_interval_clear(&a);
        tki_interval_clear(&b);
        tki_interval_clear(&x);
        tki_interval_clear(&y);
    }
    mpfr_clears(p, q, (mpfr_ptr)0);
    mpfr_free_cache();
}

TEST(unary_operations)
{
    source = tki_random_stream(2, 0);
    tki_interval a;
    tki_interval x;
    mpfr_t p;
    mpfr_init2(p, HIGH);
    int tried[UNARIES] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        const unary *op = &unaries[i % UNARIES];
        int precision = precisions[i / UNARIES % 5];
        tki_interval_init(&a, precision);
        tki_interval_init(&x, precision);
        draw_interval(&a);
        draw_interval(&x);
        if (in_domain(op->domain, &a)) {
            tried[i % UNARIES]++;
            op->interval(&x, &a);
            assert_true(mpfr_lessequal_p(x.lo, x.hi));
            for (int k = 0; k < 4; k++) {
                draw_member(p, &a);
                op->exact(p, p, MPFR_RNDN);
                assert_nearly_contains(&x, p, op->name);
            }
            op->interval(&a, &a);
            assert_true(same(&x, &a));
        }
        tki_interval_clear(&a);
        tki_interval_clear(&x);
    }
    for (int i = 0; i < UNARIES; i++)
        assert_true(tried[i] > 50);
    mpfr_clear(p);
    mpfr_free_cache();
}

TEST(operations_with_a_double)
{
    source = tki_random_stream(3, 0);
    tki_interval a;
    tki_interval x;
    mpfr_t p;
    mpfr_init2(p, HIGH);
    for (int i = 0; i < ROUNDS; i++) {
        bool product = i & 1;
        int precision = precisions[i / 2 % 5];
        tki_interval_init(&a, precision);
        tki_interval_init(&x, precision);
        draw_interval(&a);
        draw_interval(&x);
        double b = i % 7 == 0 ? 0 : i % 11 == 0 ? -0x1p-1074 : draw();
        (product ? tki_interval_mul_d : tki_interval_add_d)(&x, &a, b);
        assert_true(mpfr_lessequal_p(x.lo, x.hi));
        for (int k = 0; k < 4; k++) {
            draw_member(p, &a);
            (product ? mpfr_mul_d : mpfr_add_d)(p, p, b, MPFR_RNDN);
            assert_nearly_contains(&x, p, product ? "mul_d" : "add_d");
        }
        (product ? tki_interval_mul_d : tki_interval_add_d)(&a, &a, b);
        assert_true(same(&x, &a));
        tki_interval_clear(&a);
        tki_interval_clear(&x);
    }
    mpfr_clear(p);
}

/* A point stays a point where nothing is rounded, and one operation widens it by one unit in the last place at most. */
TEST(as_tight_as_the_precision)
{
    source = tki_random_stream(4, 0);
    tki_interval a;
    tki_interval b;
    tki_interval x;
    tki_interval_init(&a, 128);
    tki_interval_init(&b, 128);
    tki_interval_init(&x, 128);
    for (int i = 0; i < effort(500); i++) {
        tki_interval_set_d(&a, draw());
        tki_interval_set_d(&b, draw());
        assert_true(mpfr_equal_p(a.lo, a.hi));
        tki_interval_mul(&x, &a, &b); /* 53 bits times 53 bits is exact in 128 */
        assert_true(mpfr_equal_p(x.lo, x.hi));
        if (mpfr_sgn(b.lo) == 0)
            continue;
        tki_interval_div(&x, &a, &b);
        mpfr_nextabove(x.lo);
        mpfr_nextabove(x.lo);
        mpfr_nextabove(x.lo);
        assert_true(mpfr_greaterequal_p(x.lo, x.hi));
    }
    tki_interval_clear(&a);
    tki_interval_clear(&b);
    tki_interval_clear(&x);
}

TEST(constants)
{
    tki_interval x;
    mpfr_t p;
    mpfr_init2(p, HIGH);
    for (int i = 0; i < 5; i++) {
        tki_interval_init(&x, precisions[i]);
        tki_interval_set_pi(&x);
        mpfr_const_pi(p, MPFR_RNDN);
        assert_contains(&x, p, "pi");
        mpfr_nextabove(x.lo);
        assert_true(mpfr_equal_p(x.lo, x.hi));
        static const struct {
            long numerator;
            unsigned long denominator;
        } ratios[] = {{1, 3},      {-1, 3},       {44715, 1000000}, {0, 7},
                      {-44715, 1}, {LONG_MAX, 3}, {LONG_MIN, 7},    {1, ULONG_MAX}};
        for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
            tki_interval_set_ratio(&x, ratios[r].numerator, ratios[r].denominator);
            mpfr_set_si(p, ratios[r].numerator, MPFR_RNDN);
            mpfr_div_ui(p, p, ratios[r].denominator, MPFR_RNDN);
            assert_nearly_contains(&x, p, "ratio");
        }
        tki_interval_set_d(&x, 0.1); /* more bits than some precisions have */
        mpfr_set_d(p, 0.1, MPFR_RNDN);
        assert_contains(&x, p, "set_d");
        tki_interval_clear(&x);
    }
    mpfr_clear(p);
    mpfr_free_cache();
}

TEST(ends_of_another_precision_enclose)
{
    tki_interval x;
    mpfr_t lo, hi;
    tki_interval_init(&x, 53);
    mpfr_inits2(HIGH, lo, hi, (mpfr_ptr)0);
    for (int i = 0; i < ROUNDS; i++) {
        int precision = precisions[i % 5];
        draw_interval(&x);
        tki_interval_get(&x, precision, lo, hi);
        assert_true(mpfr_get_prec(lo) == precision && mpfr_get_prec(hi) == precision);
        assert_true(mpfr_lessequal_p(lo, x.lo) && mpfr_greaterequal_p(hi, x.hi));
        /* No other number of that precision lies between. */
        mpfr_nextabove(lo);
        mpfr_nextbelow(hi);
        assert_true(mpfr_greater_p(lo, x.lo) && mpfr_less_p(hi, x.hi));
    }
    mpfr_clears(lo, hi, (mpfr_ptr)0);
    tki_interval_clear(&x);
}

TEST(doubles_enclose)
{
    source = tki_random_stream(5, 0);
    tki_interval x;
    tki_interval three;
    tki_interval_init(&x, 128);
    tki_interval_init(&three, 128);
    tki_interval_set_d(&three, 3);
    for (int i = 0; i < effort(1000); i++) {
        draw_interval(&x);
        tki_interval_div(&x, &x, &three);
        double lo = tki_interval_low(&x);
        double hi = tki_interval_high(&x);
        assert_true(mpfr_cmp_d(x.lo, lo) >= 0 && mpfr_cmp_d(x.hi, hi) <= 0);
        assert_true(mpfr_cmp_d(x.lo, nextafter(lo, INFINITY)) < 0 && mpfr_cmp_d(x.hi, nextafter(hi, -INFINITY)) > 0);
        double magnitude = tki_interval_magnitude(&x);
        assert_true(magnitude >= fabs(lo) && magnitude >= fabs(hi));
    }
    /* Past the range of double: still an enclosure. */
    mpfr_set_d(x.lo, 1, MPFR_RNDN);
    mpfr_mul_2si(x.lo, x.lo, 5000, MPFR_RNDN);
    mpfr_set(x.hi, x.lo, MPFR_RNDN);
    assert_true(tki_interval_low(&x) <= 0x1.fffffffffffffp1023);
    assert_true(isinf(tki_interval_high(&x)));
    mpfr_mul_2si(x.lo, x.lo, -10000, MPFR_RNDN);
    mpfr_set(x.hi, x.lo, MPFR_RNDN);
    assert_true(tki_interval_low(&x) == 0 && tki_interval_high(&x) == 0x1p-1074);
    tki_interval_clear(&x);
    tki_interval_clear(&three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_operations),
        cmocka_unit_test(unary_operations),
        cmocka_unit_test(operations_with_a_double),
        cmocka_unit_test(as_tight_as_the_precision),
        cmocka_unit_test(constants),
        cmocka_unit_test(ends_of_another_precision_enclose),
        cmocka_unit_test(doubles_enclose),
    };
    return cmocka_run_group_tests_name("interval", tests, NULL, NULL);
}
