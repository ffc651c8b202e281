/* Records that a program may hand over by mistake, one absurd member at a time: each is refused with its reason when it is registered, or when
 * its reference is, and none is kept. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "tests/attribute_tools.h"
#include "tests/op_test.h"

enum { N, K, HALF };
enum { X, PICKS, MASK, Y };
enum { FACTOR, MODE, COUNT };

static void derive(tk_case *c)
{
    c->dims[HALF] = c->dims[N] / 2;
}

static int run(const tk_case *c, void *const buffers[], void *data)
{
    (void)data;
    memset(buffers[Y], 0, (size_t)tk_case_elements(c, Y) * tk_dtype_size(c->dtype));
    return 0;
}

static tk_status enclose(const tk_case *c, const void *const buffers[], int output, int64_t first, int64_t count,
                         tk_enclosure *out, void *data)
{
    (void)c;
    (void)buffers;
    (void)output;
    (void)first;
    (void)data;
    for (int64_t i = 0; i < count; i++)
        out[i] = (tk_enclosure){.admits = TK_ADMIT_BITS};
    return TK_OK;
}

static const int axes[TK_MAX_RANK + 1] = {N, K};
static const int axis_of_none[] = {3}, negative_axis[] = {-1};
static const char nul_name[] = "", long_name[] = "a_name_that_is_one_byte_longer_32";

typedef struct record {
    tk_contract contract;
    const char *dim_names[3], *derived[3];
    tk_param params[4];
    tk_types types[2];
    tk_dtype tensor_types[2][4];
    tk_attribute attributes[3];
    tk_choice choices[2];
    tk_value tried[2];
    tk_clause clauses[5];
    tk_implementation implementations[2];
    int implementation_count;
    tk_reference reference;
    tk_planted mutants[2];
    tk_support supports[1];
} record;

/* y = 0; everything else is there to be spoiled. */
static void make(record *r)
{
    *r = (record){
        .dim_names = {"n", "k", "half"},
        .derived = {NULL, NULL, "n // 2"},
        .params =
            {[X] = {.name = "x", .rank = 2, .dim = axes, APART},
             [PICKS] = {.name = "picks", .kind = TK_KIND_INDEX, .rank = 1, .dim = axes, .indexed_dim = K, APART},
             [MASK] = {.name = "mask", .kind = TK_KIND_FIXED, .dtype = TK_U64, .rank = 1, .dim = axes, APART},
             [Y] = {.name = "y", .output = true, .rank = 2, .dim = axes, APART}},
        .types = {{TK_F32, TK_F32}, {TK_F16, TK_F16}},
        .tensor_types = {{TK_F32, TK_I32, TK_U64, TK_F32}, {TK_F16, TK_I64, TK_U64, TK_F16}},
        .choices = {{"one", "the first"}, {"two", "the second"}},
        .tried = {{.integer = 1}, {.integer = 2}},
        .attributes = {[FACTOR] = {.name = "factor",
                                   .text = "a factor",
                                   .type = TK_ATTRIBUTE_REAL,
                                   .most = {.real = 2},
                                   .seen_by_kernel = true},
                       [MODE] = {.name = "mode", .text = "a choice", .choice_count = 2, .seen_by_kernel = true},
                       [COUNT] = {.name = "count",
                                  .text = "a number",
                                  .type = TK_ATTRIBUTE_INTEGER,
                                  .most = {.integer = 9},
                                  .tried_count = 2,
                                  .seen_by_kernel = true}},
        .clauses = {{TK_CLAUSE_VALUE, "ZEROS.VALUE", "every y is 0"},
                    {TK_CLAUSE_WRITE, "ZEROS.WRITE", "every y is written, and nothing else"},
                    {TK_CLAUSE_SHAPE, "ZEROS.SHAPE", "any sizes"},
                    {TK_CLAUSE_REPEAT, "ZEROS.REPEAT", "the same inputs, the same bits"},
                    {TK_CLAUSE_INDEX, "ZEROS.INDEX", "a bad index is refused"}},
        .implementations = {{.name = "one", .run = run}, {.name = "two", .run = run}},
        .implementation_count = 2,
        .supports = {{"ZEROS.VALUE", "proofs/sums.v", "any_order"}},
        .mutants = {{"first", "is right", run, NULL, TK_QUICK}, {"second", "as well", run, NULL, TK_QUICK}},
    };
    r->attributes[MODE].choices = r->choices;
    r->attributes[COUNT].tried = r->tried;
    r->reference = TK_REFERENCE_DEFAULTS;
    r->reference.enclose = enclose;
    r->reference.mutant_count = 2;
    r->reference.mutants = r->mutants;
    r->contract = (tk_contract){.name = "zeros",
                                .summary = "zeros",
                                .formula = "y = 0",
                                .bound = "B = 0",
                                .dim_count = 3,
                                .dim_names = r->dim_names,
                                .derived = r->derived,
                                .derive = derive,
                                .param_count = 4,
                                .params = r->params,
                                .type_count = 2,
                                .types = r->types,
                                .attribute_count = 3,
                                .attributes = r->attributes,
                                .clause_count = 5,
                                .clauses = r->clauses};
}

#define CASE(number, text, ...) \
    case number: __VA_ARGS__; return text

/* Spoils one member; what the refusal says, NULL behind the last. */
static const char *spoil(record *r, int i)
{
    tk_contract *c = &r->contract;
    tk_param *p = r->params;
    tk_attribute *a = r->attributes;
    switch (i) {
        CASE(0, "`name`", c->name = NULL);
        CASE(1, "`name`", c->name = nul_name);
        CASE(2, "`name`", c->name = "../zeros");
        CASE(3, "summary", c->summary = NULL);
        CASE(4, "formula", c->formula = NULL);
        CASE(5, "bound", c->bound = NULL);
        CASE(6, "dim_count", c->dim_count = 0);
        CASE(7, "dim_count", c->dim_count = -1);
        CASE(8, "dim_count", c->dim_count = INT_MAX);
        CASE(9, "dim_count", c->dim_names = NULL);
        CASE(10, "dim_names", r->dim_names[1] = NULL);
        CASE(11, "dim_names", r->dim_names[1] = long_name);
        CASE(12, "two sizes", r->dim_names[1] = "n");
        CASE(13, "`derived`", c->derive = NULL);
        CASE(14, "`derived`", c->derived = NULL);
        CASE(15, "param_count", c->param_count = 0);
        CASE(16, "param_count", c->param_count = INT_MIN);
        CASE(17, "param_count", c->param_count = TK_MAX_PARAMS + 1);
        CASE(18, "param_count", c->params = NULL);
        CASE(19, "tensor's name", p[X].name = NULL);
        CASE(20, "tensor's name", p[X].name = "x y");
        CASE(21, "two tensors", p[MASK].name = "x");
        CASE(22, "of a tensor is out", p[X].kind = (tk_kind)-1);
        CASE(23, "of a tensor is out", p[X].kind = (tk_kind)99);
        CASE(24, "of a tensor is out", p[MASK].dtype = (tk_dtype)-1);
        CASE(25, "of a tensor is out", p[MASK].dtype = (tk_dtype)99);
        CASE(26, "rank", p[X].rank = 0);
        CASE(27, "rank", p[X].rank = TK_MAX_RANK + 1);
        CASE(28, "rank", p[X].rank = INT_MIN);
        CASE(29, "rank", p[X].dim = NULL);
        CASE(30, "inner_axis", p[X].inner_axis = 2);
        CASE(31, "inner_axis", p[X].inner_axis = INT_MIN);
        CASE(32, "a size that", p[MASK].dim = axis_of_none);
        CASE(33, "a size that", p[MASK].dim = negative_axis);
        CASE(34, "indexed_dim", p[PICKS].indexed_dim = -1);
        CASE(35, "indexed_dim", p[PICKS].indexed_dim = 3);
        CASE(36, "`rule`", p[PICKS].rule = (tk_index_rule)9);
        CASE(37, "neutral", p[X].neutral = (tk_neutral)9);
        CASE(38, "TK_INDICES_ENDS", p[X].rule = TK_INDICES_ENDS);
        CASE(39, "`also`", p[PICKS].also = "nothing");
        CASE(40, "`also`", p[PICKS].also = "factor");
        CASE(41, "`also`", p[X].also = "count");
        CASE(42, "range", p[X].least = 2, p[X].most = 1);
        CASE(43, "range", p[X].least = p[X].most = 1);
        CASE(44, "range", p[X].least = (double)NAN);
        CASE(45, "range", p[X].most = (double)INFINITY);
        CASE(46, "range", p[Y].most = 1);
        CASE(47, "input of integers", p[MASK].least = -2, p[MASK].most = -1);
        CASE(48, "one of indices", p[PICKS].least = 0, p[PICKS].most = 2);
        CASE(49, "judged", p[Y].judged = (tk_judged_by)9);
        CASE(50, "judged", p[Y].judged = TK_BY_INTEGER);
        CASE(51, "ordered", p[Y].judged = TK_BY_ORDER, p[Y].ordered_by = 9);
        CASE(52, "ordered", p[Y].judged = TK_BY_ORDER, p[Y].ordered_by = Y);
        CASE(53, "ordered", p[Y].judged = TK_BY_ORDER, p[Y].ordered_by = INT_MIN);
        CASE(54, "may_alias", p[Y].may_alias = Y);
        CASE(55, "may_alias", p[Y].may_alias = INT_MAX);
        CASE(56, "may_alias", p[Y].may_alias = MASK);
        CASE(57, "of another kind that is added", p[Y].may_alias = X, r->clauses[1].id = "ZEROS.INPLACE");
        CASE(58, "sum", p[Y].sums_to = (double)NAN);
        CASE(59, "sum", p[Y].sums_to = (double)INFINITY);
        CASE(60, "not a choice", p[X].when_choices = 1, p[X].when_attribute = COUNT);
        CASE(61, "a choice that", p[X].when_choices = 4, p[X].when_attribute = MODE);
        CASE(62, "no output", p[Y].output = false);
        CASE(63, "absent in some", p[Y].when_choices = 1, p[Y].when_attribute = MODE);
        CASE(64, "elementwise", c->elementwise = true);
        CASE(65, "type_count", c->types = NULL);
        CASE(66, "type_count", c->type_count = 0);
        CASE(67, "type_count", c->type_count = INT_MAX);
        CASE(68, "`types`", r->types[1].dtype = (tk_dtype)99);
        CASE(69, "`types`", r->types[1].result_dtype = (tk_dtype)-7);
        CASE(70, "attribute_count", c->attributes = NULL);
        CASE(71, "attribute_count", c->attribute_count = -1);
        CASE(72, "attribute_count", c->attribute_count = TK_MAX_ATTRIBUTES + 1);
        CASE(73, "unique", a[COUNT].name = "mode");
        CASE(74, "no text", a[COUNT].text = NULL);
        CASE(75, "`type`", a[COUNT].type = (tk_attribute_type)7);
        CASE(76, "choices", a[MODE].choice_count = INT_MIN);
        CASE(77, "choices", a[MODE].choice_count = INT_MAX);
        CASE(78, "choices", a[MODE].choices = NULL);
        CASE(79, "unique", r->choices[1].id = "one");
        CASE(80, "no text", r->choices[1].text = NULL);
        CASE(81, "`initial`", a[MODE].initial.integer = 2);
        CASE(82, "`initial`", a[COUNT].least.integer = 5, a[COUNT].most.integer = 4);
        CASE(83, "`initial`", a[FACTOR].initial.real = (double)NAN);
        CASE(84, "finite", a[FACTOR].most.real = a[FACTOR].initial.real = (double)INFINITY);
        CASE(85, "finite", a[FACTOR].least.real = -(double)INFINITY);
        CASE(86, "`initial`", a[FACTOR].least.real = (double)NAN);
        CASE(87, "`initial`", a[FACTOR].fp32 = true, a[FACTOR].initial.real = 0.1);
        CASE(88, "tried", r->tried[1].integer = 10);
        CASE(89, "tried", a[COUNT].tried_count = INT_MAX);
        CASE(90, "role", a[MODE].role = (tk_role)9);
        CASE(91, "role", a[MODE].role = TK_ROLE_DOMAIN);
        CASE(92, "role", a[MODE].name = "numerics");
        CASE(93, "clause_count", c->clauses = NULL);
        CASE(94, "clause_count", c->clause_count = INT_MAX);
        CASE(95, "clause_count", c->clause_count = 0);
        CASE(96, "no valid kind", r->clauses[1].kind = (tk_clause_kind)9);
        CASE(97, "no id", r->clauses[0].id = NULL);
        CASE(98, "no text", r->clauses[0].text = NULL);
        CASE(99, "the same id", r->clauses[1].id = "ZEROS.VALUE");
        CASE(100, "implementations", r->implementation_count = -1);
        CASE(101, "implementations", r->implementation_count = INT_MAX);
        CASE(102, "no function", r->implementations[1].run = NULL);
        CASE(103, "name is not", r->implementations[1].name = NULL);
        CASE(104, "name is not", r->implementations[1].name = "Two");
        CASE(105, "the same name", r->implementations[1].name = "one");
        CASE(106, "determinism", r->implementations[1].determinism = (tk_determinism)-3);
        /* References. */
        CASE(107, "no reference", r->reference.enclose = NULL);
        CASE(108, "tk_reference", r->reference.size = 0);
        CASE(109, "mutants", r->reference.mutant_count = -1);
        CASE(110, "mutants", r->reference.mutant_count = INT_MAX);
        CASE(111, "mutants", r->reference.mutants = NULL);
        CASE(112, "variants", r->reference.variant_count = 1);
        CASE(113, "mutant", r->mutants[1].name = NULL);
        CASE(114, "mutant", r->mutants[1].name = nul_name);
        CASE(115, "mutant", r->mutants[1].name = "../../up");
        CASE(116, "mutant", r->mutants[1].name = long_name);
        CASE(117, "mutant", r->mutants[1].what = NULL);
        CASE(118, "mutant", r->mutants[1].kernel = NULL);
        CASE(119, "the same name", r->mutants[1].name = "first");
        CASE(120, "level", r->mutants[1].level = TK_EXHAUSTIVE);
        CASE(121, "level", r->mutants[1].level = (tk_level)-1);
        CASE(122, "range of x", p[X].least = 1e6, p[X].most = 2e6); /* fp16 ends before it */
        CASE(123, "range of x", p[X].least = 1.0001, p[X].most = 1.0002);
        CASE(124, "the same", r->types[1] = r->types[0]);
        CASE(125, "out of range", r->tensor_types[0][X] = (tk_dtype)99, c->tensor_types = r->tensor_types[0]);
        CASE(126, "that of indices", r->tensor_types[1][PICKS] = TK_F32, c->tensor_types = r->tensor_types[0]);
        CASE(127, "not the `dtype`", r->tensor_types[1][MASK] = TK_I32, c->tensor_types = r->tensor_types[0]);
        CASE(128, "may_alias", r->tensor_types[1][Y] = TK_BF16, p[Y].may_alias = X,
             c->tensor_types = r->tensor_types[0]);
        CASE(129, "input of integers", p[MASK].least = -1, p[MASK].most = 2);
        CASE(130, "input of integers", p[MASK].least = 0, p[MASK].most = 2.5);
        CASE(131, "input of integers", p[MASK].most = 0x1p53);
        CASE(132, "input of integers", p[MASK].dtype = TK_BOOL, p[MASK].most = 2);
        CASE(133, "set together", r->implementations[1].source = "file.c");
        CASE(134, "set together", r->reference.support_count = 1);
        CASE(135, "set together", r->reference.support_count = -1, r->reference.supports = r->supports);
        CASE(136, "a clause that", r->supports[0].clause = "ONES.VALUE", r->reference.support_count = 1,
             r->reference.supports = r->supports);
        CASE(137, "a theorem that", r->supports[0].theorem = "any_disorder", r->reference.support_count = 1,
             r->reference.supports = r->supports);
        CASE(138, "a theorem that", r->supports[0].file = NULL, r->reference.support_count = 1,
             r->reference.supports = r->supports);
    }
    return NULL;
}

TEST(each_is_refused)
{
    static record spoiled;
    record *r = &spoiled;
    for (int i = 0;; i++) {
        const tk_contract *op = NULL;
        tk_ctx *ctx = new_context();
        make(r);
        const char *text = spoil(r, i);
        tk_status status = tk_contract_register(ctx, &r->contract, r->implementation_count, r->implementations, &op);
        if (status == TK_OK)
            status = tk_contract_judge_by(ctx, op, &r->reference);
        if (!text) {
            assert_ok(ctx, status);
            assert_refused(ctx, tk_contract_judge_by(ctx, op, &r->reference), TK_BAD_ARGUMENT, "already");
            tk_ctx_destroy(ctx);
            break;
        }
        if (status != TK_BAD_ARGUMENT || !strstr(tk_ctx_message(ctx), text))
            fail_msg("%d: %s: '%s' does not mention '%s'", i, tk_status_text(status), tk_ctx_message(ctx), text);
        tk_ctx_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_refused),
    };
    return cmocka_run_group_tests_name("bad_records", tests, NULL, NULL);
}
