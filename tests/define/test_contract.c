/* The contract that a definition makes: sizes, tensors, attributes, clauses; and the cases that it takes. */
#include <stdio.h>
#include <string.h>

#include "define/definition.h"
#include "model/case.h"
#include "tests/unit_test.h"

static tk_ctx *ctx;

static int enter(void **state)
{
    (void)state;
    return tk_ctx_create(&ctx) == TK_OK ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    tk_ctx_destroy(ctx);
    return 0;
}

static const tk_contract *define(const char *text, const char *name)
{
    const tk_contract *contract;
    if (tk_op_define(ctx, text, strlen(text), name, &contract) != TK_OK)
        fail_msg("%s\n%s", tk_ctx_message(ctx), text);
    return contract;
}

static void check_fails(const char *text, const char *name, const char *message)
{
    const tk_contract *contract;
    assert_int_equal(tk_op_define(ctx, text, strlen(text), name, &contract), TK_BAD_ARGUMENT);
    assert_string_equal(tk_ctx_message(ctx), message);
    assert_null(contract);
}

static const char conv[] = "op conv1d(x[n, c, w], k[o, c, r], b[o] if bias; stride: int in [1, 8] = 1, pad: int = 0, "
                           "bias: choice(no, yes) = yes) "
                           "-> y[n, o, q]\n"
                           "    where q = (w + 2 * pad - r) // stride + 1, w % 2 == 0\n"
                           "    y[n, o, q] = b[o] + sum[c, r](x[n, c, q * stride + r - pad else 0] * k)\n";

TEST(a_contract_has_what_the_head_says)
{
    const tk_contract *c = define(conv, NULL);
    assert_ptr_equal(tk_ctx_contract_find(ctx, "conv1d"), c);
    assert_string_equal(tk_contract_definition(c), conv);
    assert_string_equal(c->formula, "where q = (w + 2 * pad - r) // stride + 1, w % 2 == 0; y[n, o, q] = b[o] + "
                                    "sum[c, r](x[n, c, q * stride + r - pad else 0] * k)");
    assert_int_equal(c->dim_count, 6);
    assert_string_equal(c->dim_names[5], "q");
    assert_string_equal(c->derived[5], "(w + 2 * pad - r) // stride + 1");
    assert_null(c->derived[0]);
    assert_int_equal(c->param_count, 4);
    assert_int_equal(c->params[0].inner_axis, 2);
    assert_int_equal(c->params[1].inner_axis, 2);
    assert_int_equal(c->params[2].inner_axis, -1);
    assert_int_equal(c->params[2].when_attribute, 2);
    assert_int_equal(c->params[2].when_choices, 2);
    assert_true(c->params[3].output);
    assert_int_equal(c->type_count, 3);
    assert_int_equal(c->attributes[0].most.integer, 8);
    assert_int_equal(c->attributes[0].tried_count, 3);
    assert_int_equal(c->attributes[2].choice_count, 2);
    assert_false(c->elementwise);
    assert_string_equal(c->clauses[0].id, "CONV1D.ERR");
    assert_int_equal(tki_definition_clause(tki_definition_of(c), TKI_DEFINED_OVERFLOW), 3);
    assert_int_equal(tki_definition_clause(tki_definition_of(c), TKI_DEFINED_SPECIAL), TKI_NONE);
}

static const char *text_of(const tk_contract *c, tk_clause_kind kind)
{
    for (int i = 0; i < c->clause_count; i++)
        if (c->clauses[i].kind == kind)
            return c->clauses[i].text;
    return "";
}

TEST(the_clause_of_shapes_says_which_cases_are_taken)
{
    assert_string_equal(
        text_of(define(conv, NULL), TK_CLAUSE_SHAPE),
        "any n, c, w, o and r, zero included, at any alignment of the element type, where q = (w + 2 * "
        "pad - r) // stride + 1, w % 2 == 0");
    assert_string_equal(text_of(define("op all(x[n]) -> y[n]\n    y = x\n", NULL), TK_CLAUSE_SHAPE),
                        "any n, zero included, at any alignment of the element type");
    assert_string_equal(
        text_of(define("op turned(x[t, d]) -> y[t, d], i[t]: int\n    y = rotate_half[d](x)\n"
                       "    i[t] = argmax[d](x)\n",
                       NULL),
                TK_CLAUSE_SHAPE),
        "any t and d, zero included, at any alignment of the element type; not where rotate_half is of "
        "an odd number of elements (line 2), or where argmax is over nothing (line 3)");
}

TEST(a_case_follows_the_definition)
{
    tk_case c = tk_case_init(define(conv, NULL), TK_F32);
    const int64_t dims[] = {2, 3, 8, 4, 3, 0};
    memcpy(c.dims, dims, sizeof dims);
    c.attributes[0].integer = 2;
    c.attributes[1].integer = 1;
    assert_true(tki_case_settle(&c));
    assert_int_equal(c.dims[5], 4);
    assert_int_equal(tki_case_check_shape(ctx, &c), TK_OK);
    assert_int_equal(tk_case_elements(&c, 2), 4);
    c.attributes[2].integer = 0;
    assert_int_equal(tk_case_elements(&c, 2), 0);
    c.dims[5] = 5;
    assert_int_equal(tki_case_check_shape(ctx, &c), TK_BAD_ARGUMENT);
    c.dims[5] = 4;
    c.dims[2] = 7;
    assert_int_equal(tki_case_check_shape(ctx, &c), TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_ctx_message(ctx), "w % 2 == 0 does not hold"));
}

TEST(types_ranges_and_memory)
{
    const tk_contract *c = define(
        "op f(x[n] in (0, 1], i[n]: int in [0, v), j[n]: int, s[n]: e4m3; p: real in [0, 1) = 0.5) "
        "-> y[n] over x, z[n]: f32, t[n]: int\n"
        "    y = x + p\n    z = s\n    t = i + j\n    special x = 0: y = 0\n",
        "f");
    assert_true(c->params[0].least > 0 && c->params[0].least < 0x1p-1000 && c->params[0].most == 1);
    assert_int_equal(c->params[1].kind, TK_KIND_INDEX);
    assert_string_equal(c->dim_names[c->params[1].indexed_dim], "v");
    assert_int_equal(c->params[2].kind, TK_KIND_FIXED);
    assert_int_equal(c->params[2].dtype, TK_I64);
    assert_int_equal(c->params[3].dtype, TK_F8_E4M3);
    assert_int_equal(c->params[4].may_alias, 0);
    assert_int_equal(c->params[6].judged, TK_BY_INTEGER);
    assert_true(c->attributes[0].most.real < 1 && c->attributes[0].most.real > 0.999);
    const tki_definition *d = tki_definition_of(c);
    assert_int_equal(tki_definition_clause(d, TKI_DEFINED_SPECIAL), 4);
    assert_int_equal(tki_definition_clause(d, TKI_DEFINED_INTEGER), 5);
    assert_string_equal(c->clauses[5].id, "F.INTEGER");
    bool index = false;
    for (int i = 0; i < c->clause_count; i++)
        index |= c->clauses[i].kind == TK_CLAUSE_INDEX;
    assert_true(index);
}

TEST(what_is_elementwise_is_told)
{
    assert_true(define("op a(x[n], w[n]) -> y[n]\n t = x * w\n y = silu(t)", NULL)->elementwise);
    assert_true(define("op b(x[n, m]) -> y[n, m]\n y = x", NULL)->elementwise);
    assert_false(define("op c(x[n, m]) -> y[m, n]\n y[i, j] = x[j, i]", NULL)->elementwise);
    assert_false(define("op d(x[n]) -> y[n]\n y = x * size(n)", NULL)->elementwise);
    assert_false(define("op e(x[n]) -> y[n]\n y = x[0]", NULL)->elementwise);
    assert_false(define("op g(x[n]) -> y[n]\n y = select(philox(1, n) > 5, x, 0)", NULL)->elementwise);
}

TEST(failures_say_where)
{
    check_fails("op f(x[n]) -> y[n]\n    y = (x\n", NULL,
                "line 3, column 1: expected an operator or ), but there is the end of the text");
    check_fails("op f(x[n]) -> y[n]\n y = x\nop g(x[n]) -> y[n]\n y = x", NULL,
                "the text defines several ops, and one has to be named: f, g");
    check_fails("op f(x[n]) -> y[n]\n y = x", "g", "the text does not define g, but f");
    check_fails("op gelu_fwd(x[n]) -> y[n]\n y = x", NULL, "an op gelu_fwd exists already");
    const tk_contract *contract;
    assert_int_equal(tk_op_define(ctx, NULL, 0, NULL, &contract), TK_BAD_ARGUMENT);
}

TEST(the_same_text_is_the_same_op)
{
    const tk_contract *first = define("op f(x[n]) -> y[n]\n y = x", NULL);
    assert_ptr_equal(define("# a comment\nop f(x[n])->y[n]\n\n y=(x)", "f"), first);
    check_fails("op f(x[n]) -> y[n]\n y = x + x", NULL, "an op f exists already");
}

/* Each has a case that it takes, no other op has its name, and all fit into one context. */
TEST(our_definitions_make_contracts)
{
    const char *name, *text;
    int count = 0;
    for (; (name = tk_definition_at(count, &text)); count++) {
        assert_null(tk_contract_find(name));
        assert_ptr_equal(tk_definition_find(name), text);
        const tk_contract *contract = define(text, name);
        assert_string_equal(contract->name, name);
        tk_case c = tk_case_init(contract, contract->types[0].dtype);
        for (int size = 0; size < contract->dim_count; size++)
            c.dims[size] = 6;
        if (!tki_case_settle(&c) || tki_case_check_shape(ctx, &c) != TK_OK)
            fail_msg("%s takes no small case: %s", contract->name, tk_ctx_message(ctx));
    }
    assert_true(count >= 25);
    assert_null(text);
    assert_null(tk_definition_find("gelu_fwd"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTERED(a_contract_has_what_the_head_says), ENTERED(the_clause_of_shapes_says_which_cases_are_taken),
        ENTERED(a_case_follows_the_definition),     ENTERED(types_ranges_and_memory),
        ENTERED(what_is_elementwise_is_told),       ENTERED(failures_say_where),
        ENTERED(the_same_text_is_the_same_op),      ENTERED(our_definitions_make_contracts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
