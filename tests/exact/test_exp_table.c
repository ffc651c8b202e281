/* The table of exp (exact/exp_table.h) against MPFR: every entry, every pair of neighbouring numbers, and random pairs, for
 * both dtypes, with the errors that the header states. */
#include <math.h>
#include <stdbool.h>

#include "core/random.h"
#include "exact/exp_table.h"
#include "exact/round.h"
#include "tests/unit_test.h"

/* A difference of two numbers, or a ratio's bound, is exact in EXACT bits; the reference exp has REFERENCE. */
enum { PATTERNS = 1 << 16, PAIRS = 50000, ENCLOSED_PAIRS = 2000, EXACT = 320, REFERENCE = 128 };

typedef struct fixture {
    tk_dtype dtype;
    tki_exp_entry *table; /* [PATTERNS] */
    mpfr_t difference, low, high, bound;
} fixture;

static fixture fixtures[] = {{.dtype = TK_F16}, {.dtype = TK_BF16}};

static int open_tables(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fixture *f = &fixtures[i];
        void *table;
        if (tki_exp_table_open(f->dtype, &table) != TK_OK)
            return -1;
        f->table = table;
        mpfr_inits2(EXACT, f->difference, f->bound, (mpfr_ptr)0);
        mpfr_inits2(REFERENCE, f->low, f->high, (mpfr_ptr)0);
    }
    return 0;
}

static int close_tables(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fixture *f = &fixtures[i];
        mpfr_clears(f->difference, f->bound, f->low, f->high, (mpfr_ptr)0);
    }
    mpfr_free_cache();
    return 0;
}

/* The finite numbers in ascending order are those of place -(finite_count - 1) to finite_count - 1; -0 is left out. */
static int finite_count(tk_dtype dtype)
{
    return (int)tki_format_of(dtype).infinity;
}

static const tki_exp_entry *at_place(const fixture *f, int place)
{
    return &f->table[place < 0 ? 0x8000 - place : place];
}

/* exp(difference) in [low, high], one unit of REFERENCE bits apart. */
static void reference_exp(fixture *f)
{
    mpfr_exp(f->low, f->difference, MPFR_RNDD);
    mpfr_set(f->high, f->low, MPFR_RNDN);
    mpfr_nextabove(f->high);
}

static void assert_ratio(fixture *f, const tki_exp_entry *x, const tki_exp_entry *max)
{
    double ratio = tki_exp_ratio(x, max);
    mpfr_set_flt(f->difference, x->x, MPFR_RNDN);
    mpfr_sub_d(f->difference, f->difference, (double)max->x, MPFR_RNDN);
    reference_exp(f);

    mpfr_set_d(f->bound, 1 - TKI_EXP_RATIO_ERROR, MPFR_RNDN);
    mpfr_mul_d(f->bound, f->bound, ratio, MPFR_RNDN);
    bool above_low = mpfr_lessequal_p(f->bound, f->low);
    mpfr_set_d(f->bound, 1 + TKI_EXP_RATIO_ERROR, MPFR_RNDN);
    mpfr_mul_d(f->bound, f->bound, ratio, MPFR_RNDN);
    mpfr_add_d(f->bound, f->bound, TKI_EXP_RATIO_TINY, MPFR_RNDD);
    bool below_high = mpfr_lessequal_p(f->high, f->bound);
    /* Not zero where the sum may count on it; one rounding of the distance. */
    bool cut_rightly = tki_exp_scaled(x, max) > 0 || mpfr_cmp_d(f->high, TKI_EXP_RATIO_TINY) < 0;
    bool distance = mpfr_get_d(f->difference, MPFR_RNDN) == -tki_exp_distance(x, max);
    if (!above_low || !below_high || !cut_rightly || !distance)
        fail_msg("%s: exp(%a - %a) is %.17g, not %a", tk_dtype_name(f->dtype), (double)x->x, (double)max->x,
                 mpfr_get_d(f->low, MPFR_RNDN), ratio);
}

TEST(every_entry)
{
    for (int i = 0; i < 2; i++) {
        fixture *f = &fixtures[i];
        for (uint32_t bits = 0; bits < PATTERNS; bits++) {
            const tki_exp_entry *e = &f->table[bits];
            double x = tki_decode(f->dtype, bits);
            if (isnan(x) || x == INFINITY) {
                assert_true(isnan(e->mantissa));
                continue;
            }
            assert_true((double)e->x == x);
            if (x == -INFINITY) {
                assert_true(e->mantissa == 0);
                continue;
            }
            assert_true(e->mantissa >= 0.5 && e->mantissa < 1);
            if (fabs(x) > 0x1p16)
                continue; /* no exp is kept */
            mpfr_set_d(f->difference, x, MPFR_RNDN);
            reference_exp(f);
            mpfr_mul_2si(f->low, f->low, -e->exponent, MPFR_RNDN);
            mpfr_sub_d(f->bound, f->low, e->mantissa, MPFR_RNDN);
            mpfr_div(f->bound, f->bound, f->low, MPFR_RNDN);
            /* The last term is the reference's own error. */
            assert_true(fabs(mpfr_get_d(f->bound, MPFR_RNDA)) <= 0x1p-53 * (1 + 0x1p-40) + 0x1p-100);
        }
    }
}

TEST(neighbours)
{
    for (int i = 0; i < 2; i++) {
        fixture *f = &fixtures[i];
        int count = finite_count(f->dtype);
        for (int place = 1 - count; place < count - 1; place++) {
            const tki_exp_entry *below = at_place(f, place);
            const tki_exp_entry *above = at_place(f, place + 1);
            assert_true(below->x < above->x);
            assert_true(below->exponent <= above->exponent);
            assert_true(tki_exp_ratio(above, above) == 1);
            assert_ratio(f, below, above);
        }
    }
}

/* Places drawn close to each other too, since far ones are mostly cut to zero. */
static void draw_pair(const fixture *f, tki_random *random, const tki_exp_entry **x, const tki_exp_entry **max)
{
    int last = finite_count(f->dtype) - 1;
    int low = (int)tki_random_below(random, (uint64_t)(2 * last + 1)) - last;
    int room = 1 << tki_random_below(random, 17);
    int high = low + (int)tki_random_below(random, (uint64_t)room);
    *x = at_place(f, low);
    *max = at_place(f, high < last ? high : last);
}

TEST(random_pairs)
{
    for (int i = 0; i < 2; i++) {
        fixture *f = &fixtures[i];
        tki_random random = tki_random_stream(23, (uint64_t)i);
        for (int k = 0; k < effort(PAIRS); k++) {
            const tki_exp_entry *x;
            const tki_exp_entry *max;
            draw_pair(f, &random, &x, &max);
            assert_ratio(f, x, max);
        }
    }
}

/* Both zeros are one number, and -inf has no share in any row. */
TEST(zeros_and_minus_infinity)
{
    for (int i = 0; i < 2; i++) {
        fixture *f = &fixtures[i];
        const tki_exp_entry *minus_zero = &f->table[0x8000];
        const tki_exp_entry *minus_infinity = &f->table[tki_round_double(f->dtype, -INFINITY)];
        assert_true(tki_exp_ratio(minus_zero, at_place(f, 0)) == 1);
        assert_true(tki_exp_ratio(at_place(f, 0), minus_zero) == 1);
        for (int place = 1 - finite_count(f->dtype); place < finite_count(f->dtype); place++)
            assert_true(tki_exp_ratio(minus_infinity, at_place(f, place)) == 0);
    }
}

TEST(enclosures)
{
    tki_interval result;
    tki_interval_init(&result, 90);
    for (int i = 0; i < 2; i++) {
        fixture *f = &fixtures[i];
        tki_random random = tki_random_stream(29, (uint64_t)i);
        for (int k = 0; k < effort(ENCLOSED_PAIRS); k++) {
            const tki_exp_entry *x;
            const tki_exp_entry *max;
            draw_pair(f, &random, &x, &max);
            tki_exp_difference_enclose(&result, (double)x->x, (double)max->x);
            mpfr_set_flt(f->difference, x->x, MPFR_RNDN);
            mpfr_sub_d(f->difference, f->difference, (double)max->x, MPFR_RNDN);
            mpfr_exp(f->low, f->difference, MPFR_RNDD);
            mpfr_exp(f->high, f->difference, MPFR_RNDU);
            assert_true(mpfr_lessequal_p(result.lo, f->low) && mpfr_lessequal_p(f->high, result.hi));
            mpfr_sub(f->bound, result.hi, result.lo, MPFR_RNDU);
            mpfr_div(f->bound, f->bound, result.hi, MPFR_RNDU);
            assert_true(mpfr_cmp_d(f->bound, 0x1p-88) <= 0 || mpfr_zero_p(result.lo));
        }
    }
    tki_interval_clear(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_entry),  cmocka_unit_test(neighbours),
        cmocka_unit_test(random_pairs), cmocka_unit_test(zeros_and_minus_infinity),
        cmocka_unit_test(enclosures),
    };
    return cmocka_run_group_tests_name("exp_table", tests, open_tables, close_tables);
}
