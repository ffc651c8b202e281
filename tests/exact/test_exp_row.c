/* exact/exp_row.h in fp32 against MPFR: exponentials of differences that double does not hold, with the errors that the header states;
 * and the same numbers in bf16 and in fp32 give the same ratios. */
#include <math.h>

#include "core/random.h"
#include "exact/exp_row.h"
#include "tests/unit_test.h"

enum { PAIRS = 20000, EXACT = 320, REFERENCE = 128 };

/* A magnitude of any order below 2^9, or beside 2^20, where fp32 numbers are 1/8 apart. */
static float draw(tki_random *random)
{
    const float fraction = 1 + (float)(tki_random_u64(random) >> 41) * 0x1p-23f;
    const int exponent = (int)(tki_random_u64(random) % 48) - 39;
    const float value = ldexpf(fraction, exponent);
    const float shifted = tki_random_u64(random) % 4 == 0 ? value + 0x1p20f : value;
    return tki_random_u64(random) % 2 == 0 ? -shifted : shifted;
}

static void assert_within(double ratio, mpfr_srcptr exact, double error)
{
    mpfr_t bound;
    mpfr_init2(bound, EXACT);
    mpfr_set_d(bound, ratio, MPFR_RNDN);
    mpfr_mul_d(bound, bound, 1 - error, MPFR_RNDD);
    assert_true(mpfr_lessequal_p(bound, exact));
    mpfr_set_d(bound, ratio, MPFR_RNDN);
    mpfr_mul_d(bound, bound, 1 + error, MPFR_RNDU);
    mpfr_add_d(bound, bound, TKI_EXP_RATIO_TINY, MPFR_RNDU);
    assert_true(mpfr_greaterequal_p(bound, exact));
    mpfr_clear(bound);
}

TEST(computed_ratios_are_within_their_error)
{
    void *tables;
    assert_int_equal(tki_exp_row_open(TK_F32, &tables), TK_OK);
    tki_random random = tki_random_stream(1, 0);
    mpfr_t exact;
    mpfr_init2(exact, REFERENCE);
    int inexact = 0;
    for (int i = 0; i < effort(PAIRS); i++) {
        float row[2] = {draw(&random), draw(&random)};
        const int max = row[1] > row[0];
        const tki_exp_row x = tki_exp_row_at(TK_F32, tables, row, max);
        inexact += (double)row[max] - tki_exp_row_distance(&x, !max) != (double)row[!max];
        tki_interval enclosed;
        tki_interval_init(&enclosed, REFERENCE);
        tki_exp_row_enclose(&enclosed, &x, !max);
        mpfr_set(exact, enclosed.lo, MPFR_RNDN);
        assert_within(tki_exp_row_ratio(&x, !max), exact, tki_exp_row_ratio_error(TK_F32));
        assert_within(tki_exp_row_term(&x, !max), exact, tki_exp_row_term_error(TK_F32) * 0x1p-53);
        assert_true(tki_exp_row_ratio(&x, max) == 1);
        tki_interval_clear(&enclosed);
    }
    assert_true(inexact > PAIRS / 10);
    mpfr_clear(exact);
    mpfr_free_cache();
}

TEST(infinities_give_zero)
{
    void *tables;
    assert_int_equal(tki_exp_row_open(TK_F32, &tables), TK_OK);
    const float row[3] = {-INFINITY, 3, -0x1.fffffep127f};
    const tki_exp_row x = tki_exp_row_at(TK_F32, tables, row, 1);
    assert_true(tki_exp_row_term(&x, 0) == 0);
    assert_true(tki_exp_row_ratio(&x, 2) == 0);
    assert_true(isinf(tki_exp_row_distance(&x, 0)));
}

TEST(types_agree)
{
    void *of_bf16, *of_f32;
    assert_int_equal(tki_exp_row_open(TK_BF16, &of_bf16), TK_OK);
    assert_int_equal(tki_exp_row_open(TK_F32, &of_f32), TK_OK);
    for (uint32_t bits = 0x3c00; bits < 0x42d0; bits++) { /* 2^-7 to 104 */
        const uint16_t narrow[4] = {0, (uint16_t)(bits | 0x8000)};
        const float wide[2] = {0, (float)tki_decode(TK_BF16, narrow[1])};
        const tki_exp_row a = tki_exp_row_at(TK_BF16, of_bf16, narrow, 0);
        const tki_exp_row b = tki_exp_row_at(TK_F32, of_f32, wide, 0);
        const double error = tki_exp_row_ratio_error(TK_BF16) + tki_exp_row_ratio_error(TK_F32);
        assert_true(fabs(tki_exp_row_ratio(&a, 1) / tki_exp_row_ratio(&b, 1) - 1) <= 1.01 * error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computed_ratios_are_within_their_error),
        cmocka_unit_test(infinities_give_zero),
        cmocka_unit_test(types_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
