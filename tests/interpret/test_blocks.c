/* Blocks against the rules of single values: bit for bit the same is known of each element; of sums, which add in another order, the same but for
 * roundings in double. Drawn blocks of every length, exact or not, with zeros, both signs, and numbers at which a rule has an end. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "interpret/functions.h"
#include "interpret/row_blocks.h"
#include "tests/unit_test.h"

enum { DRAWS = 3000 };

static tki_rules rules;
static tki_random stream;

static int begin(void **state)
{
    (void)state;
    stream = tki_random_stream(93, 0);
    return tki_elementary_open(&rules.tables) == TK_OK ? 0 : -1;
}

static uint64_t below(uint64_t n)
{
    return tki_random_below(&stream, n);
}

static double drawn_number(int family)
{
    const double unit = tki_random_unit(&stream) * 2 - 1;
    switch (family) {
    case 0: return unit * 4;
    case 1: return below(3) ? 0 : unit;
    case 2: return ldexp(unit, (int)below(200) - 100);
    case 3: return (double)below(9) - 4;
    case 4: return unit * 700;
    default: return 100 + unit;
    }
}

enum { FAMILIES = 6 };

/* A number of fp32, or one that careful evaluations may miss. */
static tki_value drawn_value(int family, bool exact)
{
    const double v = (double)(float)drawn_number(family);
    if (exact)
        return tki_value_exactly(v);
    const double e = fabs(v) * ldexp(tki_random_unit(&stream), -(int)below(24)), d = fabs(v) * 0x1p-50;
    return tki_value_rounded(v, below(4) ? d : 0, below(4) ? e : 0, 1, 0, below(2) && v >= 0 ? 0 : -INFINITY,
                             INFINITY);
}

typedef struct drawn {
    int count;
    tki_value values[TKI_LANES];
    tki_block block;
} drawn;

static void draw(drawn *to, int family, int count)
{
    const bool exact = below(2);
    to->count = count;
    for (int i = 0; i < count; i++)
        to->values[i] = drawn_value(family, exact);
    const int64_t depth = !exact && below(4) == 0 ? TKI_NORMALISED : 0;
    for (int i = 0; i < count; i++)
        to->values[i].depth = depth;
    if (!tki_block_of_values(to->values, false, count, &to->block)) {
        draw(to, 0, count);
        return;
    }
    if (!exact)
        return;
    to->block.exact = true; /* then only v is looked at */
    memset(to->block.d, 0xff, sizeof to->block.d);
    memset(to->block.e, 0xff, sizeof to->block.e);
    memset(to->block.l, 0xff, sizeof to->block.l);
    memset(to->block.h, 0xff, sizeof to->block.h);
}

static bool same_value(const tki_value *a, const tki_value *b)
{
    return a->v == b->v && a->d == b->d && a->e == b->e && a->l == b->l && a->h == b->h && a->state == b->state &&
           a->depth == b->depth;
}

static struct {
    int64_t blocks, left;
} seen;

/* What the block has where it was made, and whether the rules of single values give the same. A block that was not made has an element that
 * is more than a finite number, or is the one that `may_refuse` says. */
static void check(const char *what, bool made, const tki_block *block, const tki_value expected[], int count,
                  bool may_refuse)
{
    bool plain = true;
    for (int i = 0; i < count; i++)
        plain &= expected[i].state == TKI_IS_FINITE && expected[i].depth == expected[0].depth;
    seen.blocks += made;
    seen.left += !made;
    if (made && !plain)
        fail_msg("%s: a block with what is not finite, or of different depths", what);
    if (!made && plain && !may_refuse)
        fail_msg("%s: no block", what);
    for (int i = 0; i < count && made; i++) {
        const tki_value got = tki_block_at(block, i);
        if (!same_value(&got, &expected[i]))
            fail_msg("%s: element %d of %d: %.17g +- %g, e %g, [%.17g, %.17g], depth %d; expected %.17g +- %g, e %g, "
                     "[%.17g, %.17g], depth %d",
                     what, i, count, got.v, got.d, got.e, got.l, got.h, (int)got.depth, expected[i].v, expected[i].d,
                     expected[i].e, expected[i].l, expected[i].h, (int)expected[i].depth);
    }
}

TEST(arithmetic)
{
    tki_value expected[TKI_LANES];
    tki_block y;
    for (int draws = 0; draws < effort(DRAWS); draws++) {
        drawn a, b;
        const int count = 1 + (int)below(TKI_LANES);
        rules.flushes = below(8) == 0;
        draw(&a, (int)below(FAMILIES), count);
        draw(&b, (int)below(FAMILIES), count);
        for (int subtract = 0; subtract < 2; subtract++) {
            for (int i = 0; i < count; i++) {
                tki_value other = b.values[i];
                if (subtract) {
                    other = tki_negated(&other);
                    other.depth = b.values[i].depth;
                }
                expected[i] = tki_added(&rules, &a.values[i], &other);
            }
            check("add", tki_block_add(&rules, &a.block, &b.block, subtract, count, &y), &y, expected, count, false);
        }
        for (int i = 0; i < count; i++)
            expected[i] = tki_multiplied(&rules, &a.values[i], &b.values[i]);
        /* Zeros have no depth, and all values of a block have the same. */
        check("multiply", tki_block_multiply(&rules, &a.block, &b.block, count, &y), &y, expected, count,
              a.block.depth != 0 || b.block.depth != 0);
        for (int i = 0; i < count; i++)
            expected[i] = tki_squared(&rules, &a.values[i]);
        check("square", tki_block_square(&rules, &a.block, count, &y), &y, expected, count, false);
        for (int i = 0; i < count; i++)
            expected[i] = tki_divided(&rules, &a.values[i], &b.values[i]);
        check("divide", tki_block_divide(&rules, &a.block, &b.block, count, &y), &y, expected, count, true);
        const bool exact = a.block.exact && b.block.exact;
        for (int smaller = 0; smaller < 2; smaller++) {
            for (int i = 0; i < count; i++)
                expected[i] = (smaller ? tki_smaller : tki_larger)(&a.values[i], &b.values[i]);
            check("larger", tki_block_larger(&a.block, &b.block, smaller, count, &y), &y, expected, count, !exact);
        }
    }
    assert_true(seen.blocks > seen.left);
}

/* a (1 / b), where 1 / b is subnormal: rounded, or flushed to zero. */
TEST(reciprocals_of_large_numbers)
{
    for (int draw = 0; draw < effort(DRAWS); draw++) {
        const float a = (float)ldexp(1 + tki_random_unit(&stream), (int)below(180) - 60);
        const float b = (float)ldexp(1 + tki_random_unit(&stream), 120 + (int)below(7));
        float inverse = 1 / b;
        const tki_value x = tki_value_exactly((double)a), y = tki_value_exactly((double)b);
        rules.flushes = draw % 2;
        inverse = rules.flushes && inverse < 0x1p-126F ? 0 : inverse;
        const tki_value quotient = tki_divided(&rules, &x, &y);
        assert_true(fabs((double)(a * inverse) - (double)a / (double)b) <= quotient.e + quotient.d);
    }
    rules.flushes = false;
}

TEST(functions)
{
    tki_value expected[TKI_LANES];
    tki_block y;
    seen.blocks = seen.left = 0;
    for (int draws = 0; draws < effort(DRAWS / 10); draws++)
        for (tki_primitive p = 0; p < TKI_PRIMITIVE_COUNT; p++) {
            drawn a;
            const int count = 1 + (int)below(TKI_LANES);
            if (!tki_function_of(p))
                continue;
            rules.flushes = below(8) == 0;
            draw(&a, (int)below(FAMILIES), count);
            for (int i = 0; i < count && tki_function_of(p)->least >= 0; i++) { /* in its domain */
                a.values[i] = tki_absolute(&a.values[i]);
                a.values[i] = tki_value_exactly(a.values[i].v + 0x1p-20);
            }
            if (tki_function_of(p)->least >= 0)
                assert_true(tki_block_of_values(a.values, false, count, &a.block));
            for (int i = 0; i < count; i++)
                expected[i] = tki_function_value(rules.tables, p, &a.values[i], rules.flushes);
            char name[32];
            snprintf(name, sizeof name, "function %d", (int)p);
            check(name, tki_function_block(&rules, p, &a.block, count, &y), &y, expected, count, false);
        }
    assert_true(seen.blocks > 2 * seen.left);
}

/* -- Rows -------------------------------------------------------------------------------------------------------------- */

static bool is_near(double a, double b, double share)
{
    return a == b || fabs(a - b) <= share * fmax(fabs(a), fabs(b));
}

static void check_near(const char *what, const tki_value *a, const tki_value *b)
{
    const bool near = fabs(a->v - b->v) <= a->d + b->d && is_near(a->e, b->e, 0x1p-30) &&
                      is_near(a->mass, b->mass, 0x1p-30) && a->depth == b->depth;
    if (a->state != b->state || ((a->state & TKI_IS_FINITE) && !near))
        fail_msg("%s: %.17g +- %g, e %g, mass %g, depth %d, state %u; of single terms %.17g +- %g, e %g, mass %g, "
                 "depth %d, state %u",
                 what, a->v, a->d, a->e, a->mass, (int)a->depth, a->state, b->v, b->d, b->e, b->mass, (int)b->depth,
                 b->state);
}

static void take(tki_row *row, const drawn *terms, int pass, bool in_blocks)
{
    int from = 0;
    while (from < terms->count) {
        const int count = 1 + (int)below((uint64_t)(terms->count - from));
        row->here = from;
        const bool taken = in_blocks && (pass ? tki_row_take_block_again(&rules, row, &terms->block, from, count)
                                              : tki_row_take_block(row, &terms->block, from, count));
        seen.blocks += taken;
        seen.left += !taken && in_blocks;
        for (int i = from; i < from + count && !taken; i++) {
            row->here = i;
            if (pass)
                tki_row_take_again(&rules, row, &terms->values[i]);
            else
                tki_row_take(row, &terms->values[i]);
        }
        from += count;
    }
}

/* The elements of one row by both ways are the same bit for bit. */
static void check_elements(const tki_row *row, const drawn *terms)
{
    tki_value expected[TKI_LANES];
    int64_t place[TKI_LANES];
    tki_block y;
    for (int i = 0; i < terms->count; i++) {
        place[i] = i;
        expected[i] = tki_row_element(&rules, row, &terms->values[i], i);
    }
    check("element", tki_row_elements(&rules, row, &terms->block, place, terms->count, &y), &y, expected,
          terms->count, true);
}

TEST(rows)
{
    static const tki_over all[] = {TKI_SUM, TKI_MEAN,        TKI_MAXIMUM,     TKI_MINIMUM, TKI_PROD,
                                   TKI_VAR, TKI_LOG_SUM_EXP, TKI_STANDARDIZE, TKI_SOFTMAX, TKI_LOG_SOFTMAX};
    const tki_value eps = tki_value_exactly(0x1p-10);
    seen.blocks = seen.left = 0;
    for (int draws = 0; draws < effort(DRAWS); draws++) {
        drawn terms;
        const tki_over over = all[draws % 10];
        const bool keeps = over == TKI_STANDARDIZE || over == TKI_SOFTMAX || over == TKI_LOG_SOFTMAX;
        tki_row ways[2];
        rules.flushes = below(8) == 0;
        do
            draw(&terms, (int)below(FAMILIES), 1 + (int)below(TKI_LANES));
        while (terms.block.depth != 0);
        for (int way = 0; way < 2; way++) {
            tki_row_begin(&ways[way], over);
            take(&ways[way], &terms, 0, way == 0);
            if (over == TKI_VAR || over == TKI_LOG_SUM_EXP || keeps) {
                tki_row_turn(&rules, &ways[way]);
                take(&ways[way], &terms, 1, way == 0);
            }
            if (keeps)
                tki_row_finish(&rules, &ways[way], &eps);
        }
        assert_int_equal(ways[0].terms, ways[1].terms);
        assert_int_equal(ways[0].near, ways[1].near);
        assert_int_equal(ways[0].place, ways[1].place);
        if (keeps) {
            check_elements(&ways[0], &terms);
            continue;
        }
        const tki_value quick = tki_row_end(&rules, &ways[0], (tki_terms){.products = false}, NULL);
        const tki_value plain = tki_row_end(&rules, &ways[1], (tki_terms){.products = false}, NULL);
        check_near("row", &quick, &plain);
    }
    assert_true(seen.blocks > 2 * seen.left);
}

TEST(products)
{
    for (int draws = 0; draws < effort(DRAWS); draws++) {
        drawn a, b;
        tki_row ways[2];
        const int count = 1 + (int)below(TKI_LANES), from = (int)below((uint64_t)count);
        draw(&a, (int)below(FAMILIES), count);
        draw(&b, (int)below(FAMILIES), count);
        tki_row_begin(&ways[0], TKI_SUM);
        tki_row_begin(&ways[1], TKI_SUM);
        tki_row_take_products(&ways[0], &a.block, &b.block, from, count - from);
        for (int i = from; i < count; i++)
            tki_row_take_product(&rules, &ways[1], &a.values[i], &b.values[i]);
        assert_int_equal(ways[0].sum.nonzero, ways[1].sum.nonzero);
        assert_int_equal(ways[0].sum.negative, ways[1].sum.negative);
        assert_int_equal(ways[0].sum.positive, ways[1].sum.positive);
        const tki_value quick = tki_row_end(&rules, &ways[0], (tki_terms){.products = true, .underflow = true}, NULL);
        const tki_value plain = tki_row_end(&rules, &ways[1], (tki_terms){.products = true, .underflow = true}, NULL);
        check_near("products", &quick, &plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic), cmocka_unit_test(reciprocals_of_large_numbers),
                                       cmocka_unit_test(functions), cmocka_unit_test(rows),
                                       cmocka_unit_test(products)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
