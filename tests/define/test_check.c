/* What the checker makes of a definition: that the order and the sets of indices are as definition.h says, for all of ours and
 * some that have every construct; and what becomes of single constructs. */
#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "define/definition.h"
#include "tests/definition_error.h"
#include "tests/unit_test.h"

static tki_definitions made;

static const tki_definition *read_text(const char *text)
{
    tki_definition_error error;
    if (tki_definitions_read(text, strlen(text), &made, &error) != TK_OK)
        fail_msg("%d:%d: %s\n%s", error.position.line, error.position.column, said(&error), text);
    return &made.list[0];
}

/* -- What holds of every definition --------------------------------------------------------------------------------------- */

static void check_indices(const tki_definition *d, int count, const int *indices)
{
    for (int i = 0; i < count; i++) {
        assert_in_range(indices[i], 0, d->index_count - 1);
        assert_true(i == 0 || indices[i] > indices[i - 1]);
    }
}

static bool has(int count, const int *indices, int index)
{
    for (int i = 0; i < count; i++)
        if (indices[i] == index)
            return true;
    return false;
}

static void check_linear(const tki_definition *d, const tki_linear *l)
{
    assert_true(d->ints[l->offset].constant);
    for (int i = 0; i < l->count; i++) {
        assert_true(d->ints[l->terms[i].coefficient].constant);
        assert_false(d->ints[l->terms[i].atom].constant);
        for (int k = 0; k < i; k++)
            assert_int_not_equal(l->terms[i].atom, l->terms[k].atom);
    }
}

static void check_int(const tki_definition *d, int i)
{
    const tki_def_int *n = &d->ints[i];
    check_indices(d, n->index_count, n->indices);
    check_linear(d, &n->linear);
    assert_true(!n->constant || n->index_count == 0);
    if (n->kind >= TKI_INT_PHILOX) {
        assert_in_range(n->a, 0, i - 1);
        assert_in_range(n->b, 0, i - 1);
        for (int k = 0; k < n->index_count; k++)
            assert_true(has(d->ints[n->a].index_count, d->ints[n->a].indices, n->indices[k]) ||
                        has(d->ints[n->b].index_count, d->ints[n->b].indices, n->indices[k]));
    }
    for (int k = 0; n->kind == TKI_INT_ELEMENT && k < d->tensors[n->tensor].rank; k++)
        assert_in_range(n->subscripts[k].value, 0, i - 1);
    if (n->kind == TKI_INT_ELEMENT)
        assert_true(d->tensors[n->tensor].integer);
}

/* Indices that a node's parts depend on are those that it lists, or those that it binds. */
static void check_depends(const tki_definition *d, const tki_def_node *n, int count, const int *indices)
{
    for (int i = 0; i < count; i++)
        assert_true(has(n->index_count, n->indices, indices[i]) || has(n->bound_count, n->bound, indices[i]));
    check_indices(d, n->index_count, n->indices);
}

static void check_over(const tki_definition *d, const tki_def_node *n)
{
    assert_true(n->bound_count > 0);
    for (int i = 0; i < n->bound_count; i++) {
        assert_false(has(n->index_count, n->indices, n->bound[i]));
        assert_int_equal(!n->at, !tki_over_keeps_axes(n->over));
        if (n->at) {
            assert_true(has(n->index_count, n->indices, n->at[i]));
            assert_int_equal(d->indices[n->at[i]].extent, d->indices[n->bound[i]].extent);
        }
    }
    for (int i = 0; i < n->test_count; i++) {
        check_linear(d, &n->tests[i].difference);
        check_depends(d, n, d->ints[n->tests[i].a].index_count, d->ints[n->tests[i].a].indices);
        check_depends(d, n, d->ints[n->tests[i].b].index_count, d->ints[n->tests[i].b].indices);
    }
}

static void check_node(const tki_definition *d, int i)
{
    const tki_def_node *n = &d->nodes[i];
    for (int k = 0; k < 3; k++)
        if (n->operand[k] >= 0) {
            const tki_def_node *o = &d->nodes[n->operand[k]];
            assert_true(n->operand[k] < i);
            assert_true(o->depth <= n->depth);
            check_depends(d, n, o->index_count, o->indices);
            const bool truth = (n->kind == TKI_NODE_SELECT && k == 0) || n->kind == TKI_NODE_AND;
            assert_int_equal(o->type == TKI_TRUTH, truth);
        }
    assert_true(!n->constant || n->index_count == 0);
    if (n->kind == TKI_NODE_READ)
        for (int k = 0; k < d->tensors[n->tensor].rank; k++) {
            const tki_def_int *s = &d->ints[n->subscripts[k].value];
            check_depends(d, n, s->index_count, s->indices);
            check_linear(d, &n->subscripts[k].linear);
        }
    if (n->kind == TKI_NODE_OVER)
        check_over(d, n);
    for (int k = 0; k < n->piece_count; k++)
        assert_true(n->pieces[k].read < i && d->nodes[n->pieces[k].read].kind == TKI_NODE_READ);
}

/* Tensors that the value reads are inputs, or before it. */
static void check_reads(const tki_definition *d, int tensor, int node)
{
    const tki_def_node *n = &d->nodes[node];
    if (n->kind == TKI_NODE_READ)
        assert_true(d->tensors[n->tensor].role == TKI_TENSOR_INPUT || n->tensor < tensor);
    for (int k = 0; k < 3; k++)
        if (n->operand[k] >= 0)
            check_reads(d, tensor, n->operand[k]);
    for (int k = 0; k < n->piece_count; k++)
        check_reads(d, tensor, n->pieces[k].read);
}

static void check_tensor(const tki_definition *d, int i)
{
    const tki_def_tensor *t = &d->tensors[i];
    assert_int_equal(i < d->input_count, t->role == TKI_TENSOR_INPUT);
    assert_int_equal(t->value >= 0, t->role != TKI_TENSOR_INPUT);
    for (int axis = 0; axis < t->rank; axis++)
        assert_true(d->ints[t->extent[axis]].constant);
    if (t->value < 0)
        return;
    const tki_def_node *value = &d->nodes[t->value];
    assert_int_equal(t->integer, value->type == TKI_INTEGER);
    for (int k = 0; k < value->index_count; k++)
        assert_true(has(t->rank, t->own, value->indices[k]));
    for (int axis = 0; axis < t->rank; axis++) {
        assert_int_equal(d->indices[t->own[axis]].extent, t->extent[axis]);
        assert_false(has(axis, t->own, t->own[axis]));
    }
    check_reads(d, i, t->value);
}

static void check_definition(const tki_definition *d)
{
    for (int i = 0; i < d->int_count; i++)
        check_int(d, i);
    for (int i = 0; i < d->node_count; i++)
        check_node(d, i);
    for (int i = 0; i < d->index_count; i++)
        assert_true(d->ints[d->indices[i].extent].constant);
    for (int i = 0; i < d->tensor_count; i++)
        check_tensor(d, i);
    for (int i = 0; i < d->param_count; i++) {
        assert_int_equal(d->tensors[d->params[i]].param, i);
        assert_int_equal(d->tensors[d->params[i]].role, i < d->input_count ? TKI_TENSOR_INPUT : TKI_TENSOR_OUTPUT);
    }
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

TEST(our_definitions_are_in_order)
{
    struct dirent **entries;
    char folder[4096], path[4096 + 300], text[8192];
    snprintf(folder, sizeof folder, "%s/src/ops/definitions", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".");
    const int count = scandir(folder, &entries, not_hidden, alphasort);
    assert_true(count >= 15);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        FILE *in = fopen(path, "rb");
        assert_non_null(in);
        text[fread(text, 1, sizeof text - 1, in)] = 0;
        fclose(in);
        read_text(text);
        for (int k = 0; k < made.count; k++)
            check_definition(&made.list[k]);
        tki_definitions_free(&made);
        free(entries[i]);
    }
    free(entries);
}

static const char everything[] =
    "op all(x[n, m], w[m] if scaled, i[q]: int in [0, n), v[n, d] in (0, 1], g[n]; a: real = 1, k: int in [1, 4] = "
    "2,\n"
    "       scaled: choice(no, yes) = yes, mode: choice(one, two, three)) -> y[n, m] over x, z[q, m]: f32, e[n]: "
    "int\n"
    "    where t = n + n, h = m // k, m % k == 0\n"
    "    s = sum[m](x) + a\n"
    "    if mode == one: c[n, m] = cumsum[m](x)\n"
    "    if mode != one: c[n, m] = rotate_half[m](x) * size(m)\n"
    "    y = softmax[m | m <= n and m % 2 == 0](x * w) + standardize[n, m](c, 1e-5) - var[m](x, 1)\n"
    "    z[q, m] = x[i[q], m] + x[i[q], m // k * k] + fma(s[i], a, k)\n"
    "    e = topk[m ties lower](x, k - 1)\n"
    "    l[j < size(t)] = pieces(g[j], s[j - size(g)])\n"
    "    p = prod[d | d * k < 5](select(v > 0.5 and d != 1, cast(bf16, v), min(v, -inf)))\n"
    "    u = max[b < k](x[n + b, 0 else -inf]) + philox(k, n) + floor(a * 2) + log_sum_exp[m](x) + p\n"
    "    special x = nan and g = inf or -inf: y = nan or 0\n"
    "    bound ERR y = 0x1p-20 * abs(y)\n"
    "    bound ERR z = abs(z)\n";

TEST(every_construct_is_in_order)
{
    const tki_definition *d = read_text(everything);
    check_definition(d);
    assert_int_equal(d->special_count, 1);
    assert_int_equal(d->specials[0].when[0].values, TKI_SPECIAL_NAN);
    assert_int_equal(d->specials[0].when[1].values, TKI_SPECIAL_PLUS_INF | TKI_SPECIAL_MINUS_INF);
    assert_int_equal(d->specials[0].admits, TKI_SPECIAL_NAN | TKI_SPECIAL_ZERO);
    assert_int_equal(d->specials[0].when[1].output_axis[0], 0);
    assert_true(d->tensors[d->params[5]].stated_bound >= 0 && d->tensors[d->params[6]].stated_bound >= 0);
    assert_int_equal(d->tensors[d->params[5]].shares, 0);
    assert_true(d->tensors[3].open_below && !d->tensors[3].open_above);
    assert_int_equal(d->size_count, 6);
    assert_string_equal(d->sizes[4].name, "t");
    assert_int_equal(d->depth, 2);
    tki_definitions_free(&made);
}

/* -- Single constructs ------------------------------------------------------------------------------------------------------ */

TEST(equal_values_are_one_node)
{
    const tki_definition *d = read_text("op f(x[r, c]) -> y[r, c], z[r, c]\n y = x * mean[c](x * x)\n"
                                        " z = mean[c](x[r, c] * x[r, c]) + x[r, c]");
    int reads = 0, over = 0;
    for (int i = 0; i < d->node_count; i++) {
        reads += d->nodes[i].kind == TKI_NODE_READ;
        over += d->nodes[i].kind == TKI_NODE_OVER;
    }
    assert_int_equal(reads, 2); /* at c outside, and at the c that mean binds */
    assert_int_equal(over, 1);
    tki_definitions_free(&made);
}

TEST(an_absent_tensor_drops_out)
{
    static const struct {
        const char *value;
        tki_node_kind rest;
    } cases[] = {
        {"b + x", TKI_NODE_READ}, {"x * b", TKI_NODE_READ}, {"x - b", TKI_NODE_READ}, {"b - x", TKI_NODE_PRIMITIVE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        snprintf(text, sizeof text, "op f(x[n], b[n] if e; e: choice(no, yes)) -> y[n]\n y = %s", cases[i].value);
        const tki_definition *d = read_text(text);
        const tki_def_node *n = &d->nodes[d->tensors[2].value];
        assert_int_equal(n->kind, TKI_NODE_CHOICE);
        assert_int_equal(n->condition.terms[0].choices, 2);
        assert_int_equal(d->nodes[n->operand[0]].kind, TKI_NODE_PRIMITIVE);
        assert_int_equal(d->nodes[n->operand[1]].kind, cases[i].rest);
        tki_definitions_free(&made);
    }
}

TEST(alternatives_are_choices)
{
    const tki_definition *d = read_text(
        "op f(x[n]; m: choice(a, b, c)) -> y[n]\n if m == a: y = x\n if m != a: y = 2 * x");
    const tki_def_node *n = &d->nodes[d->tensors[1].value];
    assert_int_equal(n->kind, TKI_NODE_CHOICE);
    assert_int_equal(n->condition.terms[0].choices, 6);
    const tki_def_node *rest = &d->nodes[n->operand[1]];
    assert_int_equal(rest->condition.terms[0].choices, 1);
    assert_int_equal(rest->operand[1], TKI_NONE);
    for (int choice = 0; choice < 3; choice++) {
        const tk_case c = {.attributes = {{.integer = choice}}};
        assert_int_equal(tki_condition_holds(&n->condition, &c), choice > 0);
        assert_int_equal(tki_condition_holds(&rest->condition, &c), choice == 0);
    }
    tki_definitions_free(&made);
}

/* The literal of the output y, which is that number. */
static void check_literal(const char *number, double nearest, bool exact)
{
    char text[128];
    snprintf(text, sizeof text, "op f(x[n]) -> y[n]\n y = %s", number);
    const tki_definition *d = read_text(text);
    const tki_def_node *n = &d->nodes[d->tensors[1].value];
    assert_int_equal(n->kind, TKI_NODE_LITERAL);
    assert_true(n->nearest == nearest);
    if (n->exact != exact)
        fail_msg("%s is%s taken to be a double", number, n->exact ? "" : " not");
    tki_definitions_free(&made);
}

TEST(numbers_are_what_they_spell)
{
    check_literal("0", 0, true);
    check_literal("0.000", 0, true);
    check_literal("0e99", 0, true);
    check_literal("3", 3, true);
    check_literal("3.5", 3.5, true);
    check_literal("350e-2", 3.5, true);
    check_literal("0.035e2", 3.5, true);
    check_literal("0.1", 0.1, false);
    check_literal("0.1000000000000000055511151231257827", 0.1, false);
    check_literal("0.1000000000000000055511151231257827021181583404541015625", 0.1, true);
    check_literal("1e22", 1e22, true);
    check_literal("1e23", 1e23, false);
    check_literal("9007199254740993", 9007199254740992, false);
    check_literal("18446744073709551616", 0x1p64, true);
    check_literal("2.2250738585072014e-308", 0x1p-1022, false);
    check_literal("0x1p-1022", 0x1p-1022, true);
    check_literal("0x1.8p1", 3, true);
    check_literal("inf", __builtin_inf(), true);
}

TEST(the_reading_of_numbers_has_no_locale)
{
    /* Where there is a locale with a comma, it changes nothing. */
    const char *set = setlocale(LC_ALL, "de_DE.UTF-8");
    check_literal("3.5", 3.5, true);
    if (set)
        setlocale(LC_ALL, "C");
}

/* Whatever stands before a predicate, and how many integers that makes: its difference is that of its sides. */
TEST(a_predicate_is_its_difference)
{
    for (int before = 0; before < 70; before++) {
        char text[4096];
        tki_definitions taken;
        tki_definition_error error;
        size_t used = (size_t)snprintf(text, sizeof text,
                                       "op a(x[n, m]) -> y[n, m]\n    t[n < size(n), m < size(m)] = x");
        for (int i = 0; i < before; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, " + x[n, %d else 0]", 100 + i);
        snprintf(text + used, sizeof text - used, "\n    y = x + sum[m | n <= m](t)\n");
        assert_int_equal(tki_definitions_read(text, strlen(text), &taken, &error), TK_OK);
        const tki_definition *d = taken.list;
        int tests = 0;
        for (int i = 0; i < d->node_count; i++)
            for (int k = 0; k < d->nodes[i].test_count; k++, tests++) {
                const tki_test *t = &d->nodes[i].tests[k];
                assert_int_equal(t->difference.count, 2);
                assert_int_equal(t->difference.terms[0].atom, t->a);
                assert_int_equal(t->difference.terms[1].atom, t->b);
                assert_int_equal(d->ints[t->difference.terms[0].coefficient].literal, 1);
                assert_int_equal(d->ints[t->difference.terms[1].coefficient].literal, -1);
            }
        assert_int_equal(tests, 1);
        tki_definitions_free(&taken);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_definitions_are_in_order), cmocka_unit_test(every_construct_is_in_order),
        cmocka_unit_test(equal_values_are_one_node),    cmocka_unit_test(an_absent_tensor_drops_out),
        cmocka_unit_test(alternatives_are_choices),     cmocka_unit_test(a_predicate_is_its_difference),
        cmocka_unit_test(numbers_are_what_they_spell),  cmocka_unit_test(the_reading_of_numbers_has_no_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
