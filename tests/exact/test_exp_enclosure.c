/* exp(-d) in double (exact/exp_enclosure.h) against MPFR: random arguments of every size, the edges of its tables and of its range, and sums
 * of two doubles, with the errors that the header states. */
#include <math.h>

#include "core/random.h"
#include "exact/exp_enclosure.h"
#include "tests/unit_test.h"

enum { EXACT = 2300, REFERENCE = 128, DRAWS = 200000, SUMS = 100000 };

static const tki_exp_pieces *pieces;
static mpfr_t argument, low, high, bound; /* the argument of EXACT bits holds any sum of two doubles */

static int begin(void **state)
{
    (void)state;
    mpfr_inits2(EXACT, argument, bound, (mpfr_ptr)0);
    mpfr_inits2(REFERENCE, low, high, (mpfr_ptr)0);
    return tki_exp_pieces_open(&pieces) == TK_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mpfr_clears(argument, low, high, bound, (mpfr_ptr)0);
    mpfr_free_cache();
    return 0;
}

/* exp(-(first + second)) in [low, high]. */
static void reference(double first, double second)
{
    mpfr_set_d(argument, first, MPFR_RNDN);
    mpfr_add_d(argument, argument, second, MPFR_RNDN);
    mpfr_neg(argument, argument, MPFR_RNDN);
    mpfr_exp(low, argument, MPFR_RNDD);
    mpfr_exp(high, argument, MPFR_RNDU);
}

/* The reference lies in [value (1 - E), value (1 + E) + T]. */
static void assert_within_error(double value, double first, double second)
{
    reference(first, second);
    mpfr_set_d(bound, 1 - TKI_EXP_MINUS_ERROR, MPFR_RNDN);
    mpfr_mul_d(bound, bound, value, MPFR_RNDN);
    const bool above = mpfr_lessequal_p(bound, low);
    mpfr_set_d(bound, 1 + TKI_EXP_MINUS_ERROR, MPFR_RNDN);
    mpfr_mul_d(bound, bound, value, MPFR_RNDN);
    if (value == 0)
        mpfr_set_d(bound, TKI_EXP_MINUS_TINY, MPFR_RNDN);
    if (!above || !mpfr_lessequal_p(high, bound))
        fail_msg("exp(-(%a + %a)) is %.17g, not %a", first, second, mpfr_get_d(low, MPFR_RNDN), value);
}

static void assert_enclosed(double d)
{
    const tki_exp_enclosure e = tki_exp_enclose(pieces, d);
    assert_within_error(tki_exp_minus(pieces, d), d, 0);
    if (mpfr_cmp_d(low, e.lo) < 0 || mpfr_cmp_d(high, e.hi) > 0)
        fail_msg("exp(-%a) is %.17g, not in [%a, %a]", d, mpfr_get_d(low, MPFR_RNDN), e.lo, e.hi);
    assert_true(e.hi <= 1);
    if (d < TKI_EXP_CUT)
        assert_true(e.lo > 0 && e.hi - e.lo <= 0x1p-49 * e.lo);
    else
        assert_true(e.lo == 0 && e.hi == TKI_EXP_MINUS_TINY);
}

TEST(random_arguments)
{
    tki_random random = tki_random_stream(31, 0);
    for (int i = 0; i < effort(DRAWS); i++) {
        const double unit = tki_random_unit(&random);
        assert_enclosed(unit * 710);
        assert_enclosed(unit * 2);
        assert_enclosed(tki_double_from_bits(tki_random_below(&random, UINT64_C(2047) << 52)));
    }
}

/* Where a table's index changes, halfway between, and one double to either side of both. */
TEST(edges_of_the_tables)
{
    for (int i = 0; i <= 705 * 512; i += i < 4096 ? 1 : 97) {
        const double d = i / 512.0;
        assert_enclosed(d);
        assert_enclosed(tki_up(d));
        if (d > 0)
            assert_enclosed(tki_down(d));
    }
}

TEST(edges_of_the_range)
{
    static const double edges[] = {
        0x1p-1074,   0x1p-1022, 0x1p-54, 0x1p-53, 0x1p-9,   0x1p-8, 703.5, 703.9999,
        TKI_EXP_CUT, 708.4,     745.2,   0x1p52,  0x1.8p52, 0x1p53, 1e300, 0x1.fffffffffffffp1023};
    assert_true(tki_exp_minus(pieces, 0) == 1);
    assert_true(tki_exp_minus(pieces, INFINITY) == 0);
    assert_enclosed(0);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        assert_enclosed(edges[i]);
        assert_enclosed(tki_down(edges[i]));
    }
}

/* Differences of two fp32 numbers are such sums. */
TEST(sums_of_two)
{
    tki_random random = tki_random_stream(37, 0);
    for (int i = 0; i < effort(SUMS); i++) {
        const double d = tki_random_unit(&random) * (i % 2 ? 704 : 1);
        const double rest = (tki_random_unit(&random) - 0.5) * 2 * (tki_up(d) - d);
        assert_within_error(tki_exp_minus_sum(pieces, d, rest), d, rest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_arguments),
        cmocka_unit_test(edges_of_the_tables),
        cmocka_unit_test(edges_of_the_range),
        cmocka_unit_test(sums_of_two),
    };
    return cmocka_run_group_tests_name("exp_enclosure", tests, begin, end);
}
