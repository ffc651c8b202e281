/* Trials of ops that a program registers are those of ours; its hints choose attributes, integers, further trials and what a trial may cost. */
#include <math.h>

#include "exact/domain.h"
#include "judge/trial_inputs.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"
#include "trials/levels.h"

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

static const tk_contract *registered(tk_ctx *ctx, const tk_contract *contract, tk_reference reference)
{
    const tk_contract *op = NULL;
    reference.enclose = enclose;
    assert_ok(ctx, tk_contract_register(ctx, contract, 0, NULL, &op));
    assert_ok(ctx, tk_contract_judge_by(ctx, op, &reference));
    return op;
}

static tki_trials trials_of(tk_ctx *ctx, const tk_contract *op, tk_level level)
{
    tki_trials trials;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.level = level;
    options.result_dtype = &op->types[0].result_dtype;
    assert_ok(ctx, tki_trials_make(ctx, op, op->types[0].dtype, TK_I32, &options, &trials));
    return trials;
}

typedef struct amount {
    int64_t trials, elements, largest;
} amount;

static amount amount_of(tk_ctx *ctx, const tk_contract *op, tk_level level)
{
    tki_trials trials = trials_of(ctx, op, level);
    amount all = {.trials = trials.count};
    for (int64_t i = 0; i < trials.count; i++) {
        const int64_t elements = tk_case_elements(&trials.list[i].c, op->param_count - 1);
        all.elements += elements;
        all.largest = elements > all.largest ? elements : all.largest;
    }
    free(trials.list);
    return all;
}

/* The name goes into what is drawn, so that a copy under another name has other sizes of the same law. */
TEST_WITH_CONTEXT(a_copy_of_ours_is_judged_on_as_much)
{
    static const char *const ours[] = {"gelu_fwd", "gelu_bwd",      "softmax_bwd",
                                       "gemm",     "embedding_fwd", "grouped_gemm"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        const tk_contract *own = tk_contract_find(ours[i]);
        tk_contract copy = *own;
        char name[64];
        snprintf(name, sizeof name, "%s_again", ours[i]);
        copy.name = name;
        const tk_contract *op = registered(ctx, &copy, TK_REFERENCE_DEFAULTS);
        for (tk_level level = TK_QUICK; level <= TK_FULL; level++) {
            const amount a = amount_of(ctx, own, level), b = amount_of(ctx, op, level);
            if (a.trials != b.trials || a.largest != b.largest ||
                fabs((double)(b.elements - a.elements)) > 0.25 * (double)a.elements)
                fail_msg("%s at %s: %lld trials of %lld elements, the largest of %lld; a copy %lld, %lld, %lld",
                         ours[i], tk_level_name(level), (long long)a.trials, (long long)a.elements,
                         (long long)a.largest, (long long)b.trials, (long long)b.elements, (long long)b.largest);
        }
    }
}

/* -- Hints -------------------------------------------------------------------------------------------------------- */

enum { X, COUNTS, Y };
enum { FACTOR, MODE };

static const tk_contract counted = {
    .name = "counted",
    .summary = "nothing",
    .formula = "y = 0",
    .bound = "B = 0",
    .dim_count = 1,
    .dim_names = (const char *const[]){"n"},
    .param_count = 3,
    .params = (const tk_param[]){[X] = {.name = "x", .rank = 1, .dim = (const int[]){0}, APART},
                                 [COUNTS] = {.name = "counts",
                                             .kind = TK_KIND_FIXED,
                                             .dtype = TK_U64,
                                             .rank = 1,
                                             .dim = (const int[]){0},
                                             APART},
                                 [Y] = {.name = "y", .output = true, .rank = 1, .dim = (const int[]){0}, APART}},
    .type_count = 1,
    .types = (const tk_types[]){{TK_F32, TK_F32}},
    .attribute_count = 2,
    .attributes = (const tk_attribute[]){[FACTOR] = {.name = "factor",
                                                     .text = "a factor",
                                                     .type = TK_ATTRIBUTE_REAL,
                                                     .most = {.real = 100},
                                                     .seen_by_kernel = true},
                                         [MODE] = {.name = "mode",
                                                   .text = "hidden",
                                                   .choice_count = 2,
                                                   .choices = (const tk_choice[]){{"one", "1"}, {"two", "2"}}}},
    .clause_count = 1,
    .clauses = (const tk_clause[]){{TK_CLAUSE_VALUE, "COUNTED.VALUE", "every y is 0"}},
};

static double squared(const tk_case *c, void *data)
{
    (void)data;
    return (double)c->dims[0] * (double)c->dims[0];
}

TEST_WITH_CONTEXT(no_trial_costs_more_than_stated)
{
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.work = squared;
    const tk_contract *op = registered(ctx, &counted, reference);
    assert_int_equal(amount_of(ctx, op, TK_QUICK).largest, 1 << 12);
    const int64_t most = amount_of(ctx, op, TK_FULL).largest;
    assert_true(most <= 1 << 15 && most > 1 << 14);
}

/* Factors from 7 on; some beyond the range; what kernels do not see. */
static void draw(tk_case *c, const tk_draw *how, uint64_t seed, void *data)
{
    c->attributes[FACTOR].real = seed % 4 ? (how->sharp ? 7 : 8) : 101;
    c->attributes[MODE].integer = 1;
    c->dims[0] = 12345;
    ++*(int *)data;
}

static void further(tk_case *c, int i, uint64_t seed, void *data)
{
    (void)seed;
    (void)data;
    c->dims[0] = i ? -1 : 777;
    c->attributes[FACTOR].real = 20 + i;
}

static void set(tk_case *c, int i, void *data)
{
    (void)data;
    c->attributes[FACTOR].real = 30 + i;
}

static void fill(const tk_case *c, int param, tk_drawn how, void *data, uint64_t seed, void *user)
{
    (void)how;
    (void)user;
    for (int64_t i = 0; i < tk_case_elements(c, param); i++)
        ((uint64_t *)data)[i] = 1000 + (seed + (uint64_t)i) % 10;
}

TEST_WITH_CONTEXT(hints_choose_attributes_integers_and_trials)
{
    int calls = 0, seen[40] = {0};
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.user_data = &calls;
    reference.draw = draw;
    reference.further = further;
    reference.further_count = 2;
    reference.set = set;
    reference.set_count = 2;
    reference.fill = fill;
    const tk_contract *op = registered(ctx, &counted, reference);
    tki_trials trials = trials_of(ctx, op, TK_QUICK);
    for (int64_t i = 0; i < trials.count; i++) {
        const tk_case *c = &trials.list[i].c;
        assert_int_equal(c->attributes[MODE].integer, 0);
        assert_true(c->dims[0] != 12345 && c->attributes[FACTOR].real < 40);
        seen[(int)c->attributes[FACTOR].real]++;
        if (c->attributes[FACTOR].real == 20)
            assert_int_equal(c->dims[0], 777);
        if (i % 16 == 0) {
            tki_inputs inputs;
            assert_ok(ctx, tki_inputs_alloc(ctx, c, &inputs));
            tki_trial_fill(&trials.list[i], inputs.data);
            for (int64_t k = 0; k < tk_case_elements(c, COUNTS); k++)
                assert_in_range(((uint64_t *)inputs.data[COUNTS])[k], 1000, 1009);
            tki_inputs_free(&inputs);
        }
    }
    assert_true(calls > 50 && seen[7] > 5 && seen[8] > 5 && seen[20] == 1 && seen[21] == 1 && seen[30] > 5 &&
                seen[31] > 5);
    free(trials.list);
}

/* Of every kind of family, and beyond what the formats hold. */
TEST_WITH_CONTEXT(integers_are_drawn_from_their_range)
{
    static const struct {
        tk_dtype dtype;
        double least, most;
    } ranges[] = {{TK_U8, 3, 200}, {TK_BOOL, 0, 1}, {TK_U64, 5, 0x1p40}, {TK_I32, -7, 9}, {TK_I64, -0x1p50, -2}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        tk_contract ranged = counted;
        tk_param params[3];
        memcpy(params, counted.params, sizeof params);
        params[COUNTS].dtype = ranges[r].dtype;
        params[COUNTS].least = ranges[r].least;
        params[COUNTS].most = ranges[r].most;
        ranged.params = params;
        tk_ctx *other = new_context();
        tki_trials trials = trials_of(other, registered(other, &ranged, TK_REFERENCE_DEFAULTS), TK_QUICK);
        int64_t judged = 0;
        for (int64_t i = 0; i < trials.count; i++) {
            const tk_case *c = &trials.list[i].c;
            tki_inputs inputs;
            if (c->dims[0] > 4096)
                continue;
            assert_ok(other, tki_inputs_alloc(other, c, &inputs));
            tki_trial_fill(&trials.list[i], inputs.data);
            for (int64_t k = 0; k < c->dims[0]; k++, judged++) {
                const double value = (double)tki_ranged_at(ranges[r].dtype, inputs.data[COUNTS], k);
                assert_true(value >= ranges[r].least && value <= ranges[r].most);
            }
            assert_ok(other, tki_inputs_check_domain(other, c, (const void *const *)inputs.data));
            if (c->dims[0]) {
                tki_put_ranged(ranges[r].dtype, inputs.data[COUNTS], c->dims[0] - 1, (int64_t)ranges[r].most + 1);
                assert_refused(other, tki_inputs_check_domain(other, c, (const void *const *)inputs.data),
                               TK_BAD_ARGUMENT, "lies outside");
            }
            tki_inputs_free(&inputs);
        }
        assert_true(judged > 10000);
        free(trials.list);
        tk_ctx_destroy(other);
    }
    (void)ctx;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_of_ours_is_judged_on_as_much),
        cmocka_unit_test(no_trial_costs_more_than_stated),
        cmocka_unit_test(hints_choose_attributes_integers_and_trials),
        cmocka_unit_test(integers_are_drawn_from_their_range),
    };
    return cmocka_run_group_tests_name("judge_by", tests, NULL, NULL);
}
