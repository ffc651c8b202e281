/* The rule of prod and cumprod against all ways to multiply the factors: any two of them, or of what has become of them, come first. What fp32 finds
 * in any way is admitted, and of infinities and NaN nothing else is. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "interpret/reduce.h"
#include "tests/unit_test.h"

enum { DRAWS = 20000, MOST = 5, ROOM = 512 };

static tki_rules rules;
static tki_random stream;

static int begin(void **state)
{
    (void)state;
    stream = tki_random_stream(117, 0);
    return tki_elementary_open(&rules.tables) == TK_OK ? 0 : -1;
}

static uint64_t below(uint64_t n)
{
    return tki_random_below(&stream, n);
}

/* What the factors of a set may give. */
typedef struct results {
    int count;
    float at[ROOM];
} results;

static void add_result(results *to, float y)
{
    for (int i = 0; i < to->count; i++)
        if (to->at[i] == y || (isnan(y) && isnan(to->at[i])))
            return;
    assert_true(to->count < ROOM);
    to->at[to->count++] = y;
}

static void multiply_all(const float x[], int count, results of[])
{
    for (unsigned set = 1; set < 1u << count; set++) {
        of[set].count = 0;
        for (int i = 0; i < count; i++)
            if (set == 1u << i)
                add_result(&of[set], x[i]);
        for (unsigned part = (set - 1) & set; part > 0; part = (part - 1) & set)
            for (int i = 0; i < of[part].count; i++)
                for (int k = 0; k < of[set ^ part].count; k++)
                    add_result(&of[set], of[part].at[i] * of[set ^ part].at[k]);
    }
}

static unsigned state_of(float y)
{
    return isnan(y) ? TKI_IS_NAN : isfinite(y) ? TKI_IS_FINITE : y > 0 ? TKI_IS_PLUS_INF : TKI_IS_MINUS_INF;
}

static tki_value product_of(const float x[], int count, tki_over over)
{
    tki_row row;
    tki_row_begin(&row, over);
    for (int i = 0; i < count; i++) {
        const tki_value factor = tki_value_of_input((double)x[i]);
        tki_row_take(&row, &factor);
    }
    return tki_row_end(&rules, &row, (tki_terms){.products = false}, NULL);
}

static void complain(const char *what, const float x[], int count, const tki_value *y, double got)
{
    for (int i = 0; i < count; i++)
        fprintf(stderr, "%a ", (double)x[i]);
    fail_msg("%s: %g; v %g +- %g, e %g, [%g, %g], state %u", what, got, y->v, y->d, y->e, y->l, y->h, y->state);
}

static void check(const float x[], int count, tki_over over)
{
    static results of[1 << MOST];
    const tki_value y = product_of(x, count, over);
    const results *all = &of[(1u << count) - 1];
    unsigned met = 0;
    multiply_all(x, count, of);
    for (int i = 0; i < all->count; i++) {
        const double got = (double)all->at[i];
        met |= state_of(all->at[i]);
        if (!(y.state & state_of(all->at[i])))
            complain("of another kind", x, count, &y, got);
        if (isfinite(got) && !(fabs(got - y.v) <= y.e + y.d && got >= y.l && got <= y.h))
            complain("outside", x, count, &y, got);
    }
    if (y.state & ~met & (TKI_IS_ANY | TKI_IS_UNKNOWN))
        complain("admits what no way finds", x, count, &y, NAN);
}

TEST(any_two_first)
{
    static const float values[] = {2,         -2,         0.5F,     1,      0,     -0.0F, INFINITY, -INFINITY,
                                   0x1p-100F, -0x1p-100F, 0x1p100F, 3e-30F, 7e25F, NAN,   1e-44F,   -5e20F};
    int64_t infinite = 0, with_nan = 0;
    for (int draw = 0; draw < effort(DRAWS); draw++) {
        float x[MOST];
        const int count = 1 + (int)below(MOST);
        for (int i = 0; i < count; i++)
            x[i] = values[below(below(2) ? 16 : 12)];
        check(x, count, draw % 2 ? TKI_PROD : TKI_CUMPROD);
        const tki_value y = product_of(x, count, TKI_PROD);
        infinite += (y.state & TKI_IS_INFINITE) != 0;
        with_nan += y.state == (TKI_IS_NAN | TKI_IS_PLUS_INF) || y.state == (TKI_IS_NAN | TKI_IS_MINUS_INF);
    }
    assert_true(infinite > effort(DRAWS) / 20 && with_nan > effort(DRAWS) / 200);
}

/* Factors that an evaluation may miss are as far off as that at both ends. */
TEST(factors_with_errors)
{
    for (int draw = 0; draw < effort(DRAWS); draw++) {
        tki_row row;
        double exact = 1, most = 1;
        const int count = 2 + (int)below(MOST);
        bool negative = false;
        tki_row_begin(&row, TKI_PROD);
        for (int i = 0; i < count; i++) {
            const double v = ldexp(1 + tki_random_unit(&stream), (int)below(20) - 10) * (below(2) ? 1 : -1);
            const double e = fabs(v) * (below(2) ? tki_random_unit(&stream) / 4 : 0);
            const tki_value factor = {.v = v, .e = e, .l = v - e, .h = v + e, .state = TKI_IS_FINITE};
            tki_row_take(&row, &factor);
            exact *= v;
            most *= fabs(v) + e;
            negative ^= v < 0;
        }
        const tki_value y = tki_row_end(&rules, &row, (tki_terms){.products = false}, NULL);
        assert_int_equal(y.state, TKI_IS_FINITE);
        assert_true(fabs(y.v - exact) <= y.d && y.d <= 0x1p-48 * fabs(exact) + 0x1p-900);
        assert_true(most * (1 + 0x1p-24 * (count - 1)) <= fabs(exact) + y.e);
        assert_true(fabs(exact) + y.e <= most * (1 + 0x1p-20) + 0x1p-80);
        assert_true(negative ? y.h <= 0 && y.l < 0 : y.l >= 0 && y.h > 0);
    }
}

/* What falls below double's numbers on the way is not zero. */
TEST(products_that_come_back)
{
    for (int n = 9; n < 300; n += 29)
        for (int alternating = 0; alternating < 2; alternating++) {
            tki_row row;
            tki_row_begin(&row, TKI_CUMPROD);
            for (int i = 0; i < 2 * n; i++) {
                const tki_value factor = tki_value_exactly((alternating ? i % 2 : i >= n) ? 0x1p100 : 0x1p-100);
                tki_row_take(&row, &factor);
                const tki_value y = tki_row_end(&rules, &row, (tki_terms){.products = false}, NULL);
                const int left = alternating ? (i + 1) % 2 : i < n ? i + 1 : 2 * n - i - 1;
                if (!(y.state & TKI_IS_UNKNOWN))
                    assert_true(fabs(y.v - ldexp(1, -100 * left)) <= y.d && y.v + y.d > 0 && y.l >= 0);
                else
                    assert_true(n > 100);
            }
        }
    const float zero[] = {0x1p-100F, 0, 0x1p100F};
    const tki_value y = product_of(zero, 3, TKI_PROD);
    assert_true(y.state == TKI_IS_FINITE && y.v == 0 && y.e == 0 && y.d == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_two_first), cmocka_unit_test(factors_with_errors),
                                       cmocka_unit_test(products_that_come_back)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
