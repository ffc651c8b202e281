/* Elementary functions in double (exact/elementary.h) against MPFR, with the error that the header states: drawn arguments of every size, the edges
 * of the tables and of the cases that the code distinguishes, and one double to either side of these. */
#include <math.h>

#include "core/random.h"
#include "exact/elementary.h"
#include "exact/interval.h"
#include "exact/round.h"
#include "tests/unit_test.h"

enum { BITS = 300, DRAWS = 2000 };

static const tki_elementary *tables;
static mpfr_t x, y, z;

static int begin(void **state)
{
    (void)state;
    mpfr_inits2(BITS, x, y, z, (mpfr_ptr)0);
    return tki_elementary_open(&tables) == TK_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mpfr_clears(x, y, z, (mpfr_ptr)0);
    mpfr_free_cache();
    return 0;
}

/* -- The same functions at 300 bits, from x to y ------------------------------------------------------------------- */

static void exact_exp(void)
{
    mpfr_exp(y, x, MPFR_RNDN);
}

static void exact_expm1(void)
{
    mpfr_expm1(y, x, MPFR_RNDN);
}

static void exact_log(void)
{
    mpfr_log(y, x, MPFR_RNDN);
}

static void exact_log1p(void)
{
    mpfr_log1p(y, x, MPFR_RNDN);
}

static void exact_tanh(void)
{
    mpfr_tanh(y, x, MPFR_RNDN);
}

static void exact_sigmoid(void)
{
    mpfr_neg(y, x, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_add_ui(y, y, 1, MPFR_RNDN);
    mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

static void exact_softplus(void)
{
    mpfr_abs(y, x, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_log1p(y, y, MPFR_RNDN);
    if (mpfr_sgn(x) > 0)
        mpfr_add(y, y, x, MPFR_RNDN);
}

static void exact_mish(void)
{
    exact_softplus();
    mpfr_tanh(y, y, MPFR_RNDN);
    mpfr_mul(y, y, x, MPFR_RNDN);
}

static void exact_erf(void)
{
    mpfr_erf(y, x, MPFR_RNDN);
}

static void exact_normal_cdf(void)
{
    mpfr_sqrt_ui(z, 2, MPFR_RNDN);
    mpfr_div(z, x, z, MPFR_RNDN);
    mpfr_neg(z, z, MPFR_RNDN);
    mpfr_erfc(y, z, MPFR_RNDN);
    mpfr_div_ui(y, y, 2, MPFR_RNDN);
}

static void exact_gelu_tanh(void)
{
    mpfr_t u;
    mpfr_init2(u, BITS);
    mpfr_set(u, x, MPFR_RNDN);
    mpfr_mul(z, x, x, MPFR_RNDN);
    mpfr_mul_ui(z, z, 44715, MPFR_RNDN);
    mpfr_div_ui(z, z, 1000000, MPFR_RNDN);
    mpfr_add_ui(z, z, 1, MPFR_RNDN);
    mpfr_mul(z, z, x, MPFR_RNDN);
    mpfr_const_pi(y, MPFR_RNDN);
    mpfr_ui_div(y, 8, y, MPFR_RNDN);
    mpfr_sqrt(y, y, MPFR_RNDN);
    mpfr_mul(x, z, y, MPFR_RNDN);
    exact_sigmoid();
    mpfr_mul(y, y, u, MPFR_RNDN);
    mpfr_set(x, u, MPFR_RNDN);
    mpfr_clear(u);
}

static const struct {
    const char *name;
    double (*at)(const tki_elementary *t, double x);
    void (*exactly)(void);
    double least, most; /* where it is tried */
} functions[] = {{"exp", tki_exp, exact_exp, -800, 703.999},
                 {"expm1", tki_expm1, exact_expm1, -800, 703.999},
                 {"log", tki_log, exact_log, 0x1p-1074, 0x1p1023},
                 {"log1p", tki_log1p, exact_log1p, -1 + 0x1p-53, 0x1p1023},
                 {"tanh", tki_tanh, exact_tanh, -1e30, 1e30},
                 {"sigmoid", tki_sigmoid, exact_sigmoid, -1e30, 1e30},
                 {"softplus", tki_softplus, exact_softplus, -1e30, 1e30},
                 {"mish", tki_mish, exact_mish, -1e30, 1e30},
                 {"erf", tki_erf, exact_erf, -1e30, 1e30},
                 {"normal_cdf", tki_normal_cdf, exact_normal_cdf, -1e30, 1e30},
                 {"gelu_tanh", tki_gelu_tanh, exact_gelu_tanh, -1e10, 1e10}};

static void assert_near(size_t f, double argument)
{
    if (!(argument >= functions[f].least && argument <= functions[f].most))
        return;
    const double got = functions[f].at(tables, argument);
    mpfr_set_d(x, argument, MPFR_RNDN);
    functions[f].exactly();
    mpfr_set_d(z, got, MPFR_RNDN);
    mpfr_sub(z, z, y, MPFR_RNDN);
    /* A quarter of it: what the derivations give is far less, and an error of one in a hundred arguments should show. */
    if (!(fabs(mpfr_get_d(z, MPFR_RNDA)) <= 0.25 * TKI_ELEMENTARY_ERROR * fabs(got) + TKI_ELEMENTARY_TINY))
        fail_msg("%s(%a) is %.17g, not %.17g", functions[f].name, argument, mpfr_get_d(y, MPFR_RNDN), got);
}

static void assert_around(size_t f, double argument)
{
    const double around[] = {argument, tki_up(argument), tki_down(argument)};
    for (int i = 0; i < 3; i++) {
        assert_near(f, around[i]);
        assert_near(f, -around[i]);
    }
}

TEST(drawn_arguments)
{
    tki_random random = tki_random_stream(41, 0);
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (int i = 0; i < effort(DRAWS); i++) {
            const double unit = tki_random_unit(&random), sign = tki_random_below(&random, 2) ? 1 : -1;
            assert_near(f, sign * unit * 300);
            assert_near(f, sign * unit * 20);
            assert_near(f, sign * unit);
            assert_near(f, 1 + sign * unit * 0x1p-20);
            assert_near(f, sign * tki_double_from_bits(tki_random_below(&random, UINT64_C(2047) << 52)));
        }
}

TEST(edges)
{
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        for (int i = 0; i <= 64 * 16; i++)
            assert_around(f, i / 32.0);
        for (int i = 0; i <= 256; i++)
            assert_around(f, 1 + i / 128.0);
        for (int k = -1074; k <= 1023; k++)
            assert_around(f, ldexp(1, k));
        const double cuts[] = {22.5, 0.875, 1.125, 0.125, 0.25, 703.99, 352, 31.8, 45.3};
        for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
            assert_around(f, cuts[i]);
    }
    assert_true(isinf(tki_exp(tables, TKI_EXP_END)));
}

TEST(the_argument_of_gelu_tanh)
{
    tki_random random = tki_random_stream(42, 0);
    mpfr_t c;
    mpfr_init2(c, BITS);
    mpfr_const_pi(c, MPFR_RNDN);
    mpfr_ui_div(c, 8, c, MPFR_RNDN);
    mpfr_sqrt(c, c, MPFR_RNDN);
    for (int i = 0; i < effort(DRAWS); i++) {
        const double argument = tki_random_unit(&random) * 20;
        mpfr_set_d(x, argument, MPFR_RNDN);
        mpfr_mul(y, x, x, MPFR_RNDN);
        mpfr_mul_ui(y, y, 44715, MPFR_RNDN);
        mpfr_div_ui(y, y, 1000000, MPFR_RNDN);
        mpfr_add_ui(y, y, 1, MPFR_RNDN);
        mpfr_mul(y, y, x, MPFR_RNDN);
        mpfr_mul(y, y, c, MPFR_RNDN);
        const double got = tki_gelu_tanh_argument(argument);
        mpfr_sub_d(z, y, got, MPFR_RNDN);
        assert_true(fabs(mpfr_get_d(z, MPFR_RNDA)) <= 0x1p-50 * got);
    }
    mpfr_clear(c);
}

/* Many at once: bit for bit what one of them gives, in vectors of every length. */
TEST(many_at_once)
{
    static const struct {
        double (*one)(const tki_elementary *t, double x);
        void (*all)(const tki_elementary *t, const double x[], int count, double y[]);
        bool negated; /* all(d) is one(-d), of numbers that are not negative */
    } pairs[] = {{tki_exp, tki_exp_minus_all, true},
                 {tki_sigmoid, tki_sigmoid_all, false},
                 {tki_silu, tki_silu_all, false},
                 {tki_softplus, tki_softplus_all, false},
                 {tki_mish, tki_mish_all, false}};
    enum { MOST = 40 };
    static const double edges[] = {
        0,       1,       2.0794415416798357, 2.0794415416798361, 704, 703.99999999999989, 1e300, 0x1p-60, 0x1p-53,
        0x1p-52, 0x1p-54, 0x1p-1074};
    tki_random random = tki_random_stream(17, 5);
    for (int draw = 0; draw < effort(DRAWS); draw++) {
        double arguments[MOST], got[MOST];
        const int count = 1 + (int)tki_random_below(&random, MOST);
        for (int i = 0; i < count; i++) {
            const double unit = tki_random_unit(&random) * 2 - 1;
            const double drawn = tki_random_below(&random, 4) ? unit * 20 : unit * 800;
            const double edge = edges[tki_random_below(&random, sizeof edges / sizeof *edges)];
            arguments[i] = tki_random_below(&random, 3) ? drawn : copysign(edge, unit);
        }
        for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
            for (int i = 0; i < count && pairs[p].negated; i++)
                arguments[i] = fabs(arguments[i]);
            pairs[p].all(tables, arguments, count, got);
            for (int i = 0; i < count; i++) {
                const double one = pairs[p].one(tables, pairs[p].negated ? -arguments[i] : arguments[i]);
                if (got[i] != one)
                    fail_msg("function %zu of %.17g, %d of %d: %.17g, alone %.17g", p, arguments[i], i, count, got[i],
                             one);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_arguments), cmocka_unit_test(edges),
                                       cmocka_unit_test(the_argument_of_gelu_tanh), cmocka_unit_test(many_at_once)};
    return cmocka_run_group_tests(tests, begin, end);
}
