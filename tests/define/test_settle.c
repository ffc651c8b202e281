/* A definition for a case: sizes that follow, what is refused, and subscripts that stay inside, against all values of their indices. */
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "define/definition.h"
#include "tests/definition_error.h"
#include "tests/unit_test.h"

static tki_definitions made;

static const tki_definition *read_text(const char *text)
{
    tki_definition_error error;
    if (tki_definitions_read(text, strlen(text), &made, &error) != TK_OK)
        fail_msg("%d:%d: %s\n%s", error.position.line, error.position.column, said(&error), text);
    assert_int_equal(tki_definitions_say(&made), TK_OK);
    return &made.list[0];
}

/* The refusal of a case with these sizes, and then these attributes. */
static const char *settle(const tki_definition *d, const int64_t dims[], const tk_value attributes[],
                          int64_t values[])
{
    tk_case c = {0};
    memcpy(c.dims, dims, (size_t)d->size_count * sizeof *dims);
    for (int i = 0; i < d->attribute_count; i++)
        c.attributes[i] = attributes ? attributes[i] : d->attributes[i].initial;
    const int found = tki_definition_settle(d, &c, values);
    return found == TKI_NONE ? NULL : d->refusal_texts[found];
}

static void check_settled(const char *text, const int64_t dims[], const char *refusal)
{
    int64_t values[TKI_MOST_NODES];
    const char *found = settle(read_text(text), dims, NULL, values);
    if (!refusal)
        assert_null(found);
    else if (!found || strcmp(found, refusal) != 0)
        fail_msg("%s\n  is settled with: %s\n  expected: %s", text, found ? found : "no refusal", refusal);
    tki_definitions_free(&made);
}
#define DIMS(...) ((const int64_t[TK_MAX_DIMS]){__VA_ARGS__})

#define OVERFLOW                                                                                                   \
    "an integer of the definition leaves 64 bits, is divided by what is not positive, or is the floor of what no " \
    "double holds"

TEST(what_a_case_must_not_be)
{
    static const char halves[] = "op f(x[n]) -> y[m]\n where m = n // 2, n % 2 == 0\n y[i] = x[2 * i]";
    check_settled(halves, DIMS(6), NULL);
    check_settled(halves, DIMS(0), NULL);
    check_settled(halves, DIMS(7), "n % 2 == 0 does not hold");
    static const char valid[] = "op f(x[n], w[k]) -> y[m]\n where m = n - k + 1\n y[i] = sum[k](x[i + k] * w[k])";
    check_settled(valid, DIMS(7, 3), NULL);
    check_settled(valid, DIMS(3, 3), NULL);
    check_settled(valid, DIMS(2, 3), NULL);
    check_settled(valid, DIMS(1, 3), "a size that follows from others is negative");
    check_settled("op f(x[n]) -> y[n]\n y = x[n + 1]", DIMS(3),
                  "the subscript n + 1 of x can be out of range (line 2)");
    check_settled("op f(x[n]) -> y[n]\n y = x[n - 1]", DIMS(3),
                  "the subscript n - 1 of x can be out of range (line 2)");
    check_settled("op f(x[n]) -> y[n]\n y = x[n + 1 else 0]", DIMS(3), NULL);
    check_settled("op f(x[n]) -> y[n]\n y = x[0]", DIMS(1), NULL);
    check_settled("op f(x[n]) -> y[n]\n y = x[0]", DIMS(0), "the subscript 0 of x can be out of range (line 2)");
    check_settled("op f(x[n]) -> y[n]\n y[i] = x[size(n) - 1 - i]", DIMS(5), NULL);
    static const char large[] = "op f(x[n]) -> y[n]\n where q = n * n * n\n y = x";
    check_settled(large, DIMS((1 << 21) - 1), NULL);
    check_settled(large, DIMS(1 << 21), OVERFLOW);
    check_settled("op f(x[n]; k: int = 0) -> y[n]\n where q = n // k\n y = x", DIMS(3), OVERFLOW);
    check_settled("op f(x[n]; k: int = 0) -> y[n]\n y = x[n // k]", DIMS(3), OVERFLOW);
    check_settled("op f(x[n]; k: int = -1) -> y[n]\n y = x[n % k]", DIMS(3), OVERFLOW);
    check_settled("op f(x[n]) -> y[n]\n y = sum[j < size(n) - 2](x)", DIMS(1),
                  "an index is to stay below a negative number");
    check_settled("op f(x[n]) -> y[n]\n y = sum[j < size(n) - 2](x)", DIMS(2), NULL);
    check_settled("op f(x[n]) -> y[n]\n y = rotate_half[n](x)", DIMS(4), NULL);
    check_settled("op f(x[n]) -> y[n]\n y = rotate_half[n](x)", DIMS(5),
                  "rotate_half is of an odd number of elements (line 2)");
    static const char best[] = "op f(x[r, c]) -> i[r]: int\n i = argmax[c](x)";
    check_settled(best, DIMS(3, 1), NULL);
    check_settled(best, DIMS(3, 0), "argmax is over nothing (line 2)");
    static const char some[] = "op f(x[r, c]; count: int = 3) -> v[r, k]\n where k = count\n"
                               " i[r, j < size(k)] = topk[c](x, j)\n v[r, j] = x[r, i[r, j]]";
    check_settled(some, DIMS(2, 3), NULL);
    check_settled(some, DIMS(2, 2), "topk is of more elements than there are (line 3)");
}

TEST(pieces_cover_each_place_once)
{
    static const char two[] = "op f(a[n], b[m]) -> y[p]\n where p = n + m\n y[i] = pieces(a[i], b[i - size(a)])";
    check_settled(two, DIMS(3, 4), NULL);
    check_settled(two, DIMS(0, 0), NULL);
    check_settled("op f(a[n], b[m]) -> y[p]\n where p = n + m + 1\n y[i] = pieces(a[i], b[i - size(a)])", DIMS(3, 4),
                  "the pieces do not end where i does (line 3)");
    check_settled("op f(a[n], b[m]) -> y[p]\n where p = n + m\n y[i] = pieces(a[i], b[i - size(b)])", DIMS(3, 4),
                  "the piece b does not begin where the one before it ends (line 3)");
    check_settled("op f(a[n], b[m]) -> y[p]\n where p = n + m\n y[i] = pieces(a[i], b[i - size(b)])", DIMS(4, 4),
                  NULL);
    check_settled(
        "op f(a[r, n], b[r, m]) -> y[r, p]\n where p = n + m\n y[r, i] = pieces(a[r, i], b[1 - r, i - size(n)])",
        DIMS(3, 3, 4), "the subscript 1 - r of b can be out of range (line 3)");
}

static void check_floor(double p, double by, int64_t expected, bool refused)
{
    int64_t values[TKI_MOST_NODES];
    const tki_definition *d = read_text(
        "op f(x[n]; p: real, q: real) -> y[m]\n where m = 1\n y = select(floor(p * q) > 2, 1, x[0])");
    const tk_value attributes[] = {{.real = p}, {.real = by}};
    const char *refusal = settle(d, DIMS(1), attributes, values);
    if (refused)
        assert_string_equal(refusal, OVERFLOW);
    for (int i = 0; i < d->int_count && !refused; i++)
        if (d->ints[i].kind == TKI_INT_FLOOR)
            assert_int_equal(values[i], expected);
    tki_definitions_free(&made);
}

TEST(floor_is_exact_or_refused)
{
    check_floor(0.5, 4294967296, INT64_C(1) << 31, false);
    check_floor(0.1, 4294967296, 429496729, false);
    check_floor(-0.1, 4294967296, -429496730, false);
    check_floor(0x1.fffffffffffffp-1, 4294967296, UINT32_MAX, false);
    check_floor(3, 1, 3, false);
    check_floor(0.1, 0.1, 0, true); /* no double is their product */
    check_floor(1e300, 1e300, 0, true);
    check_floor(1e300, 1, 0, true);
    check_floor(0, 1e300, 0, false);
}

/* -- Ranges against all values of the indices ---------------------------------------------------------------------------- */

static tki_random draws;

static int draw(int count)
{
    return (int)tki_random_below(&draws, (uint64_t)count);
}

/* A subscript of i and j; as a C number, and as text. */
typedef struct expression {
    char text[256];
    enum { I, J, NUMBER, ADD, SUBTRACT, TIMES, QUOTIENT, REMAINDER, LEAST, MOST } kind;
    int number, a, b;
} expression;

static expression parts[64];
static int part_count;

static int draw_expression(int depth)
{
    expression e = {.kind = (unsigned)(depth > 0 ? draw(10) : draw(3)), .number = 1 + draw(4)};
    if (e.kind >= ADD)
        e.a = draw_expression(depth - 1);
    if (e.kind == ADD || e.kind == SUBTRACT || e.kind >= LEAST)
        e.b = draw_expression(depth - 1);
    const char *a = parts[e.a].text, *b = parts[e.b].text;
    switch (e.kind) {
    case I: strcpy(e.text, "i"); break;
    case J: strcpy(e.text, "j"); break;
    case NUMBER: snprintf(e.text, sizeof e.text, "%d", e.number); break;
    case ADD: snprintf(e.text, sizeof e.text, "(%.100s + %.100s)", a, b); break;
    case SUBTRACT: snprintf(e.text, sizeof e.text, "(%.100s - %.100s)", a, b); break;
    case TIMES: snprintf(e.text, sizeof e.text, "(%.100s * %d)", a, e.number); break;
    case QUOTIENT: snprintf(e.text, sizeof e.text, "(%.100s // %d)", a, e.number); break;
    case REMAINDER: snprintf(e.text, sizeof e.text, "(%.100s %% %d)", a, e.number); break;
    case LEAST: snprintf(e.text, sizeof e.text, "min(%.100s, %.100s)", a, b); break;
    case MOST: snprintf(e.text, sizeof e.text, "max(%.100s, %.100s)", a, b); break;
    }
    parts[part_count] = e;
    return part_count++;
}

static int floor_divide(int a, int b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static int value_of(int part, int i, int j)
{
    const expression *e = &parts[part];
    if (e->kind <= NUMBER)
        return e->kind == I ? i : e->kind == J ? j : e->number;
    const int a = value_of(e->a, i, j), b = value_of(e->b, i, j);
    switch (e->kind) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case TIMES: return a * e->number;
    case QUOTIENT: return floor_divide(a, e->number);
    case REMAINDER: return a - floor_divide(a, e->number) * e->number;
    case LEAST: return a < b ? a : b;
    default: return a > b ? a : b;
    }
}

/* Is it a sum of indices alone, whose range is exact? */
static bool is_sum(int part)
{
    const expression *e = &parts[part];
    return e->kind <= NUMBER || (e->kind <= SUBTRACT && is_sum(e->a) && is_sum(e->b)) ||
           (e->kind == TIMES && is_sum(e->a));
}

/* All that an evaluation would read is inside if the case is taken; and a sum that stays inside is taken. */
static int check_range(void)
{
    char text[600];
    int64_t values[TKI_MOST_NODES];
    part_count = 1;
    const int root = draw_expression(3), rows = draw(5), cols = draw(5), extent = 1 + draw(12);
    snprintf(text, sizeof text, "op f(x[n], v[r, c]) -> y[r, c]\n y[i, j] = v[i, j] + x[%s + 0]", parts[root].text);
    const tki_definition *d = read_text(text);
    const char *refusal = settle(d, DIMS(extent, rows, cols), NULL, values);
    bool inside = true;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            inside &= value_of(root, i, j) >= 0 && value_of(root, i, j) < extent;
    if (!refusal && !inside)
        fail_msg("taken with n=%d r=%d c=%d, and it leaves the range:\n%s", extent, rows, cols, text);
    if (refusal && inside && rows > 0 && cols > 0 && is_sum(root))
        fail_msg("refused with n=%d r=%d c=%d (%s), and it stays inside:\n%s", extent, rows, cols, refusal, text);
    tki_definitions_free(&made);
    return !refusal && rows > 0 && cols > 0;
}

TEST(subscripts_that_are_taken_stay_inside)
{
    printf("seed 2\n");
    draws = tki_random_stream(2, 0);
    int taken = 0;
    const int count = effort(20000);
    for (int i = 0; i < count; i++)
        taken += check_range();
    assert_true(taken > count / 20);
}

TEST(integers_are_divided_downwards)
{
    for (int a = -20; a <= 20; a++)
        for (int b = 1; b <= 7; b++) {
            int64_t quotient, remainder;
            assert_true(tki_int_compute(TKI_INT_DIVIDE, a, b, &quotient));
            assert_true(tki_int_compute(TKI_INT_MODULO, a, b, &remainder));
            assert_int_equal(quotient, floor_divide(a, b));
            assert_int_equal(quotient * b + remainder, a);
            assert_in_range(remainder, 0, b - 1);
        }
    int64_t result;
    assert_true(tki_int_compute(TKI_INT_DIVIDE, INT64_MIN, 1, &result) && result == INT64_MIN);
    assert_false(tki_int_compute(TKI_INT_DIVIDE, 1, 0, &result));
    assert_false(tki_int_compute(TKI_INT_MODULO, 1, -1, &result));
    assert_false(tki_int_compute(TKI_INT_ADD, INT64_MAX, 1, &result));
    assert_false(tki_int_compute(TKI_INT_SUBTRACT, INT64_MIN, 1, &result));
    assert_false(tki_int_compute(TKI_INT_MULTIPLY, INT64_MIN, -1, &result));
    assert_true(tki_int_compute(TKI_INT_MIN, 3, -4, &result) && result == -4);
    assert_true(tki_int_compute(TKI_INT_MAX, 3, -4, &result) && result == 3);
}

TEST(derived_sizes_are_set)
{
    const tki_definition *d = read_text(
        "op f(x[n, h]; stride: int = 2) -> y[n, q]\n where q = p - 1, p = (h - 3) // stride + 1\n"
        " y[n, i] = x[n, i + 0]");
    tk_case c = {.dims = {4, 8}, .attributes = {{.integer = 2}}};
    assert_string_equal(d->sizes[2].name, "q");
    assert_string_equal(d->sizes[3].name, "p");
    assert_string_equal(d->sizes[3].text, "(h - 3) // stride + 1");
    tki_definition_derive(d, &c);
    assert_int_equal(c.dims[2], 2);
    assert_int_equal(c.dims[3], 3);
    c.attributes[0].integer = 0;
    tki_definition_derive(d, &c);
    assert_true(c.dims[2] < 0 && c.dims[3] < 0);
    tki_definitions_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_case_must_not_be),        cmocka_unit_test(pieces_cover_each_place_once),
        cmocka_unit_test(floor_is_exact_or_refused),      cmocka_unit_test(subscripts_that_are_taken_stay_inside),
        cmocka_unit_test(integers_are_divided_downwards), cmocka_unit_test(derived_sizes_are_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
