/* Rules of reductions, and of what is made of them, against evaluations that may be. */
#include <math.h>

#include "core/random.h"
#include "interpret/reduce.h"
#include "tests/unit_test.h"

enum { DRAWS = 4000, MOST_TERMS = 40, EVALUATIONS = 8 };

static tki_rules rules;
static tki_random stream;

static int begin(void **state)
{
    (void)state;
    stream = tki_random_stream(94, 0);
    return tki_elementary_open(&rules.tables) == TK_OK ? 0 : -1;
}

static double unit(void)
{
    return tki_random_unit(&stream) * 2 - 1;
}

static tki_value off_by(double v, double e)
{
    return (tki_value){.v = v, .e = e, .l = v - e, .h = v + e, .state = TKI_IS_FINITE};
}

/* Softmax of arguments each of which is moved by at most its error, with errors of all sizes beside each other. */
TEST(softmax_of_arguments_that_are_off)
{
    int64_t judged = 0;
    for (int draw = 0; draw < effort(DRAWS); draw++) {
        const int n = 2 + (int)tki_random_below(&stream, MOST_TERMS - 1);
        tki_value x[MOST_TERMS];
        const double most = ldexp(1, (int)tki_random_below(&stream, 30) - 20);
        for (int i = 0; i < n; i++)
            x[i] = off_by(unit() * (draw % 2 ? 1 : 30), tki_random_below(&stream, 3) ? 0 : most * fabs(unit()));
        tki_row row;
        tki_row_begin(&row, TKI_SOFTMAX);
        for (int i = 0; i < n; i++) {
            row.here = i;
            tki_row_take(&row, &x[i]);
        }
        tki_row_turn(&rules, &row);
        for (int i = 0; i < n; i++) {
            row.here = i;
            tki_row_take_again(&rules, &row, &x[i]);
        }
        tki_row_finish(&rules, &row, NULL);
        for (int k = 0; k < EVALUATIONS; k++) {
            double moved[MOST_TERMS], top = -INFINITY, sum = 0;
            const int up = (int)tki_random_below(&stream,
                                                 (uint64_t)n); /* one against the others moves an element most */
            for (int i = 0; i < n; i++) {
                const double share = k % 2 ? unit() : i == up ? 1 : -1;
                moved[i] = x[i].v + share * (k % 4 < 2 ? 1 : -1) * x[i].e;
                top = fmax(top, moved[i]);
            }
            for (int i = 0; i < n; i++)
                sum += exp(moved[i] - top);
            for (int i = 0; i < n; i++, judged++) {
                const tki_value y = tki_row_element(&rules, &row, &x[i], i);
                const double got = exp(moved[i] - top) / sum;
                assert_int_equal(y.state, TKI_IS_FINITE);
                if (!(fabs(got - y.v) <= (y.d + y.e) * (1 + 0x1p-40) + 0x1p-45) || got < y.l - 0x1p-45 ||
                    got > y.h + 0x1p-45)
                    fail_msg(
                        "draw %d, element %d of %d: %.17g +- %g, e %g, [%.17g, %.17g]; an evaluation gives %.17g",
                        draw, i, n, y.v, y.d, y.e, y.l, y.h, got);
            }
        }
    }
    print_message("          %lld elements\n", (long long)judged);
}

/* The sum of `n` ones. */
static tki_value sum_of_ones(int n)
{
    tki_row row;
    const tki_value one = tki_value_exactly(1);
    tki_row_begin(&row, TKI_SUM);
    for (int i = 0; i < n; i++)
        tki_row_take(&row, &one);
    return tki_row_end(&rules, &row, (tki_terms){.products = true}, NULL);
}

/* A bias may be added first. What is chosen by its value comes before anything that is added to it. */
TEST(what_is_chosen_is_no_sum)
{
    const tki_value sum = sum_of_ones(1000), large = tki_value_exactly(1e6), zero = tki_value_exactly(0);
    const tki_value plain = {.v = sum.v, .d = sum.d, .e = sum.e, .l = sum.l, .h = sum.h, .state = sum.state};
    const double first = tki_added(&rules, &sum, &large).e, last = tki_added(&rules, &plain, &large).e;
    assert_true(first > 100 * last);
    const unsigned truth = TKI_TRUE | TKI_FOUND_TRUE;
    const tki_value minus = tki_negated(&sum);
    const tki_value values[] = {tki_larger(&sum, &zero), tki_larger(&zero, &sum), tki_smaller(&minus, &zero),
                                tki_absolute(&sum), tki_selected(truth | TKI_OF_NUMBERS, &sum, &zero)};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_true(tki_added(&rules, &values[i], &large).e <= last * (1 + 0x1p-40));
    const tki_value by_index = tki_selected(truth, &sum, &zero);
    assert_true(tki_added(&rules, &by_index, &large).e == first);
}

/* What overflows has the sign that it may have. */
TEST(signs_of_what_overflows)
{
    const tki_value large = tki_value_exactly(0x1p100), minus = tki_negated(&large);
    const unsigned up = TKI_IS_FINITE | TKI_IS_NAN | TKI_IS_PLUS_INF,
                   down = TKI_IS_FINITE | TKI_IS_NAN | TKI_IS_MINUS_INF;
    assert_int_equal(tki_squared(&rules, &minus).state, up);
    assert_int_equal(tki_multiplied(&rules, &large, &large).state, up);
    assert_int_equal(tki_multiplied(&rules, &large, &minus).state, down);
    const tki_value open = off_by(0, 0x1p60);
    assert_int_equal(tki_multiplied(&rules, &open, &large).state, up | down);
    const tki_value end = tki_value_exactly(0x1p127), low = tki_negated(&end);
    assert_int_equal(tki_added(&rules, &end, &end).state, up);
    assert_int_equal(tki_added(&rules, &low, &low).state, down);
    tki_row row;
    tki_row_begin(&row, TKI_SUM);
    for (int i = 0; i < 3; i++)
        tki_row_take(&row, &low);
    assert_int_equal(tki_row_end(&rules, &row, (tki_terms){0}, NULL).state, down);
    tki_row_take(&row, &end);
    assert_int_equal(tki_row_end(&rules, &row, (tki_terms){0}, NULL).state, up | down);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_of_arguments_that_are_off),
        cmocka_unit_test(what_is_chosen_is_no_sum),
        cmocka_unit_test(signs_of_what_overflows),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
