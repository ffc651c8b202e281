/* Contracts that a program registers: nine tensors, five attributes, three kinds of results. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "judge/trial_inputs.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"
#include "tokitai_verify.h"
#include "trials/families.h"

/* blend[r, c] = alpha x + beta y (+ bias[c], with the choice of it); count[r] = sum of weights[r, k] w[k] + offset, exactly; best[r, t] =
 * the places of the `top` largest keys of a row, in descending order, -1 behind the last. */
enum { ROWS, COLS, INNER, KEYS, TOP };
enum { X, Y, BIAS, WEIGHTS, W, SCORES, BLEND, COUNT, BEST };
enum { ALPHA, BETA, OFFSET, BIASED, SPARE };

static const tk_value tried_factors[] = {{.real = 0.5}, {.real = -3}, {.real = 0x1p20}};
static const tk_value tried_offsets[] = {{.integer = -7}, {.integer = 1000000007}};

static const tk_contract nine = {
    .name = "nine",
    .summary = "a blend, a count and an order",
    .formula = "blend = alpha x + beta y + bias; count = sum weights w + offset; best = places of the largest scores",
    .bound = "B = 3 u (|alpha x| + |beta y| + |bias|) + 2^-149",
    .dim_count = 5,
    .dim_names = (const char *const[]){"rows", "cols", "inner", "keys", "top"},
    .param_count = 9,
    .params =
        (const tk_param[]){
            [X] = {.name = "x", .rank = 2, .dim = (const int[]){ROWS, COLS}, APART},
            [Y] = {.name = "y", .rank = 2, .dim = (const int[]){ROWS, COLS}, APART},
            [BIAS] = {.name = "bias",
                      .rank = 1,
                      .dim = (const int[]){COLS},
                      APART,
                      .when_choices = 1 << 1,
                      .when_attribute = BIASED},
            [WEIGHTS] = {.name = "weights",
                         .kind = TK_KIND_FIXED,
                         .dtype = TK_I64,
                         .rank = 2,
                         .dim = (const int[]){ROWS, INNER},
                         APART},
            [W] =
                {.name = "w", .kind = TK_KIND_FIXED, .dtype = TK_I32, .rank = 1, .dim = (const int[]){INNER}, APART},
            [SCORES] = {.name = "scores", .rank = 2, .dim = (const int[]){ROWS, KEYS}, APART},
            [BLEND] = {.name = "blend",
                       .output = true,
                       .kind = TK_KIND_RESULT,
                       .rank = 2,
                       .dim = (const int[]){ROWS, COLS},
                       APART},
            [COUNT] = {.name = "count",
                       .output = true,
                       .kind = TK_KIND_FIXED,
                       .dtype = TK_I64,
                       .judged = TK_BY_INTEGER,
                       .rank = 1,
                       .dim = (const int[]){ROWS},
                       APART},
            [BEST] = {.name = "best",
                      .output = true,
                      .kind = TK_KIND_FIXED,
                      .dtype = TK_I32,
                      .judged = TK_BY_ORDER,
                      .ordered_by = SCORES,
                      .rank = 2,
                      .dim = (const int[]){ROWS, TOP},
                      APART},
        },
    .type_count = 2,
    .types = (const tk_types[]){{TK_F32, TK_F32}, {TK_F16, TK_F32}},
    .attribute_count = 5,
    .attributes =
        (const tk_attribute[]){
            [ALPHA] = {.name = "alpha",
                       .text = "of x",
                       .type = TK_ATTRIBUTE_REAL,
                       .initial = {.real = 1},
                       .least = {.real = -0x1p30},
                       .most = {.real = 0x1p30},
                       .tried_count = 3,
                       .tried = tried_factors,
                       .seen_by_kernel = true},
            [BETA] = {.name = "beta",
                      .text = "of y",
                      .type = TK_ATTRIBUTE_REAL,
                      .least = {.real = -0x1p30},
                      .most = {.real = 0x1p30},
                      .tried_count = 3,
                      .tried = tried_factors,
                      .seen_by_kernel = true},
            [OFFSET] = {.name = "offset",
                        .text = "of the counts",
                        .type = TK_ATTRIBUTE_INTEGER,
                        .least = {.integer = INT64_MIN},
                        .most = {.integer = INT64_MAX},
                        .tried_count = 2,
                        .tried = tried_offsets,
                        .seen_by_kernel = true},
            [BIASED] = {.name = "biased",
                        .text = "is there a bias?",
                        .choice_count = 2,
                        .choices = (const tk_choice[]){{"no", "bias is not read"}, {"yes", "it is added"}},
                        .seen_by_kernel = true},
            [SPARE] = {.name = "spare",
                       .text = "nothing",
                       .type = TK_ATTRIBUTE_INTEGER,
                       .most = {.integer = 3},
                       .seen_by_kernel = true},
        },
    .clause_count = 6,
    .clauses =
        (const tk_clause[]){
            {TK_CLAUSE_ERROR, "NINE.ERR", "every blend is the rounding of some value within B of the exact one"},
            {TK_CLAUSE_VALUE, "NINE.COUNT", "every count is exact modulo 2^64"},
            {TK_CLAUSE_VALUE, "NINE.ORDER", "best selects the largest scores of its row, in descending order"},
            {TK_CLAUSE_WRITE, "NINE.WRITE", "every output is written, and nothing else"},
            {TK_CLAUSE_SHAPE, "NINE.SHAPE", "any sizes"},
            {TK_CLAUSE_REPEAT, "NINE.REPEAT", "the same inputs, the same bits"},
        },
};

/* -- The exact values, in plain C --------------------------------------------------------------------------------- */

static double load(const tk_case *c, const void *data, int64_t i)
{
    if (c->dtype == TK_F32)
        return (double)((const float *)data)[i];
    const uint16_t bits = ((const uint16_t *)data)[i];
    const int exponent = bits >> 10 & 31;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return bits & 0x3ff ? (double)NAN : sign * (double)INFINITY;
    return exponent ? sign * ldexp(1024 + (bits & 0x3ff), exponent - 25) : sign * ldexp(bits & 0x3ff, -24);
}

static tk_enclosure blend_of(const tk_case *c, const void *const b[], int64_t at)
{
    const double alpha = c->attributes[ALPHA].real, beta = c->attributes[BETA].real;
    const double p = alpha * load(c, b[X], at), q = beta * load(c, b[Y], at);
    const double bias = c->attributes[BIASED].integer ? load(c, b[BIAS], at % c->dims[COLS]) : 0;
    /* Where the order of additions can make an infinity or a NaN, the contract says nothing. */
    const double size = fabs(p) + fabs(q) + fabs(bias);
    if (!(size < 0x1p127))
        return (tk_enclosure){.admits = TK_ADMIT_UNDEFINED};
    const double sum = p + q + bias;
    const double error = size * 0x1p-50;
    return (tk_enclosure){.lo = sum - error,
                          .hi = sum + error,
                          .bound = 3 * 0x1p-24 * size * (1 + 0x1p-40) + 0x1p-149,
                          .admits = TK_ADMIT_INTERVAL};
}

static tk_enclosure count_of(const tk_case *c, const void *const b[], int64_t row)
{
    uint64_t sum = (uint64_t)c->attributes[OFFSET].integer;
    for (int64_t k = 0; k < c->dims[INNER]; k++)
        sum += (uint64_t)((const int64_t *)b[WEIGHTS])[row * c->dims[INNER] + k] *
               (uint64_t)((const int32_t *)b[W])[k];
    return (tk_enclosure){.bits = sum, .admits = TK_ADMIT_BITS, .clause = 1};
}

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static tk_enclosure best_of(const tk_case *c, const void *const b[], int64_t at)
{
    const int64_t keys = c->dims[KEYS], row = at / c->dims[TOP], place = at % c->dims[TOP];
    double *sorted = malloc((size_t)(keys + 1) * sizeof *sorted);
    tk_enclosure e = {.admits = TK_ADMIT_UNDEFINED, .clause = 2};
    bool has_nan = false;
    for (int64_t k = 0; k < keys; k++) {
        sorted[k] = load(c, b[SCORES], row * keys + k);
        has_nan |= !isfinite(sorted[k]);
    }
    if (place >= keys)
        e = (tk_enclosure){.bits = UINT64_MAX, .admits = TK_ADMIT_RAW_BITS, .clause = 2};
    else if (!has_nan) {
        qsort(sorted, (size_t)keys, sizeof *sorted, descending);
        e = (tk_enclosure){.lo = sorted[place], .hi = sorted[place], .admits = TK_ADMIT_INTERVAL, .clause = 2};
    }
    free(sorted);
    return e;
}

static tk_status enclose(const tk_case *c, const void *const b[], int output, int64_t first, int64_t count,
                         tk_enclosure *out, void *data)
{
    (void)data;
    for (int64_t i = 0; i < count; i++)
        out[i] = output == BLEND   ? blend_of(c, b, first + i)
                 : output == COUNT ? count_of(c, b, first + i)
                                   : best_of(c, b, first + i);
    return TK_OK;
}

/* -- An implementation, and wrong ones ---------------------------------------------------------------------------- */

typedef enum mistake { NONE, NO_BIAS, COUNT_IN_32_BITS, SAME_TWICE, ASCENDING, LAST_UNWRITTEN, MISTAKES } mistake;

static void select_best(const tk_case *c, const void *scores, int32_t *best, mistake how)
{
    const int64_t keys = c->dims[KEYS], top = c->dims[TOP];
    for (int64_t t = 0; t < top; t++) {
        int64_t found = -1;
        for (int64_t k = 0; k < keys && t < keys; k++) {
            bool taken = false;
            for (int64_t u = 0; u < t && how != SAME_TWICE; u++)
                taken |= best[u] == k;
            const double value = load(c, scores, k);
            const bool better = found < 0 ||
                                (how == ASCENDING ? value < load(c, scores, found) : value > load(c, scores, found));
            if (!taken && better)
                found = k;
        }
        best[t] = (int32_t)found;
    }
}

static int run(const tk_case *c, void *const b[], void *data)
{
    const mistake how = data ? *(const mistake *)data : NONE;
    const float alpha = (float)c->attributes[ALPHA].real, beta = (float)c->attributes[BETA].real;
    const int64_t cols = c->dims[COLS], cells = c->dims[ROWS] * cols;
    const bool biased = c->attributes[BIASED].integer && how != NO_BIAS;
    for (int64_t i = 0; i < cells - (how == LAST_UNWRITTEN); i++)
        ((float *)b[BLEND])[i] = alpha * (float)load(c, b[X], i) + beta * (float)load(c, b[Y], i) +
                                 (biased ? (float)load(c, b[BIAS], i % cols) : 0);
    for (int64_t r = 0; r < c->dims[ROWS]; r++) {
        uint64_t sum = count_of(c, (const void *const *)b, r).bits;
        ((int64_t *)b[COUNT])[r] = how == COUNT_IN_32_BITS ? (int32_t)(uint32_t)sum : (int64_t)sum;
        const char *scores = (const char *)b[SCORES] + r * c->dims[KEYS] * (int64_t)tk_dtype_size(c->dtype);
        select_best(c, scores, (int32_t *)b[BEST] + r * c->dims[TOP], how);
    }
    return 0;
}

/* With one implementation, or none. */
static tk_status register_with(tk_ctx *ctx, const tk_contract *contract, tk_kernel kernel, void *data,
                               const tk_contract **op)
{
    const tk_implementation plain = {.name = "plain", .run = kernel, .user_data = data};
    return tk_contract_register(ctx, contract, kernel != NULL, &plain, op);
}

static tk_status judge_with(tk_ctx *ctx, const tk_contract *op, tk_enclose judge_by, void *data)
{
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.enclose = judge_by;
    reference.user_data = data;
    return tk_contract_judge_by(ctx, op, &reference);
}

static const tk_contract *registered(tk_ctx *ctx, const tk_contract *contract, tk_kernel kernel, void *data,
                                     tk_enclose judge_by)
{
    const tk_contract *op = NULL;
    assert_ok(ctx, register_with(ctx, contract, kernel, data, &op));
    assert_ok(ctx, judge_with(ctx, op, judge_by, NULL));
    return op;
}

static void assert_held_with_each_index(tk_ctx *ctx, const tk_contract *op)
{
    for (tk_dtype index = TK_I32; index <= TK_I64; index++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        tk_certificate *certificate = certify_one(ctx, op, TK_F32, index, options);
        assert_held(certificate);
        tk_certificate_destroy(certificate);
    }
}

static const tk_contract *register_nine(tk_ctx *ctx)
{
    return registered(ctx, &nine, run, NULL, enclose);
}

/* -- An op whose tensors depend on a choice ------------------------------------------------------------------------ */

/* y = x (+ shift, and half = y / 2, with mode full); y may be the buffer of shift. In integers, so that every mistake shows. */
enum { SOME_X, SOME_SHIFT, SOME_Y, SOME_HALF };

static const tk_param some_params[] = {
    [SOME_X] = {.name = "x", .rank = 1, .dim = (const int[]){0}, APART},
    [SOME_SHIFT] = {.name = "shift", .rank = 1, .dim = (const int[]){0}, APART, .when_choices = 1 << 1},
    [SOME_Y] = {.name = "y",
                .output = true,
                .judged = TK_BY_INTEGER,
                .rank = 1,
                .dim = (const int[]){0},
                .inner_axis = -1,
                .may_alias = SOME_SHIFT},
    [SOME_HALF] = {.name = "half",
                   .output = true,
                   .judged = TK_BY_INTEGER,
                   .rank = 1,
                   .dim = (const int[]){0},
                   APART,
                   .when_choices = 1 << 1},
};

static const tk_contract sometimes = {
    .name = "sometimes",
    .summary = "tensors that are not always there",
    .formula = "y = x, or x + shift and half = y / 2",
    .bound = "B = 0",
    .dim_count = 1,
    .dim_names = (const char *const[]){"n"},
    .param_count = 4,
    .params = some_params,
    .type_count = 1,
    .types = (const tk_types[]){{TK_I32, TK_I32}},
    .attribute_count = 1,
    .attributes = (const tk_attribute[]){{.name = "mode",
                                          .text = "how much of it",
                                          .choice_count = 2,
                                          .choices = (const tk_choice[]){{"plain", "y = x"}, {"full", "all"}},
                                          .seen_by_kernel = true}},
    .clause_count = 5,
    .clauses = (const tk_clause[]){{TK_CLAUSE_VALUE, "SOMETIMES.VALUE", "every output is exact"},
                                   {TK_CLAUSE_WRITE, "SOMETIMES.WRITE", "every output is written, and nothing else"},
                                   {TK_CLAUSE_SHAPE, "SOMETIMES.SHAPE", "any n"},
                                   {TK_CLAUSE_REPEAT, "SOMETIMES.REPEAT", "the same inputs, the same bits"},
                                   {TK_CLAUSE_IN_PLACE, "SOMETIMES.IN_PLACE", "y may be the buffer of shift"}},
};

static int32_t some_y(const tk_case *c, const void *const b[], int64_t i)
{
    const uint32_t shift = tk_case_has(c, SOME_SHIFT) ? ((const uint32_t *)b[SOME_SHIFT])[i] : 0;
    return (int32_t)(((const uint32_t *)b[SOME_X])[i] + shift);
}

static tk_status some_enclose(const tk_case *c, const void *const b[], int output, int64_t first, int64_t count,
                              tk_enclosure *out, void *data)
{
    (void)data;
    assert_true(tk_case_has(c, output)); /* nothing is asked of what is not there */
    for (int64_t i = 0; i < count; i++) {
        const int64_t y = some_y(c, b, first + i);
        out[i] = (tk_enclosure){.bits = (uint64_t)(output == SOME_HALF ? y / 2 : y), .admits = TK_ADMIT_BITS};
    }
    return TK_OK;
}

typedef enum some_mistake {
    SOME_RIGHT,
    SOME_HALF_ALWAYS,
    SOME_HALF_NEVER,
    SOME_SHIFT_FORGOTTEN,
    SOME_ONE_PLAIN, /* wrong for one choice at one size only */
    SOME_ONE_FULL,
    SOME_1024_PLAIN,
    SOME_1024_FULL,
    SOME_4096_PLAIN,
    SOME_4096_FULL,
    SOME_MISTAKES
} some_mistake;

static bool some_is_wrong_here(const tk_case *c, some_mistake how)
{
    static const int64_t sizes[] = {1, 1024, 4096};
    return how >= SOME_ONE_PLAIN && c->dims[0] == sizes[(how - SOME_ONE_PLAIN) / 2] &&
           c->attributes[0].integer == (how - SOME_ONE_PLAIN) % 2;
}

static int some_run(const tk_case *c, void *const b[], void *data)
{
    const some_mistake how = data ? *(const some_mistake *)data : SOME_RIGHT;
    for (int64_t i = 0; i < c->dims[0] - some_is_wrong_here(c, how); i++) {
        const int32_t y = how == SOME_SHIFT_FORGOTTEN ? ((const int32_t *)b[SOME_X])[i]
                                                      : some_y(c, (const void *const *)b, i);
        ((int32_t *)b[SOME_Y])[i] = y;
        /* Right at the end of a page the next one may be inaccessible. */
        if (how == SOME_HALF_ALWAYS ? (i == 0 && (uintptr_t)b[SOME_HALF] % 4096) || tk_case_has(c, SOME_HALF)
                                    : how != SOME_HALF_NEVER && tk_case_has(c, SOME_HALF))
            ((int32_t *)b[SOME_HALF])[i] = y / 2;
    }
    return 0;
}

/* -- Tests -------------------------------------------------------------------------------------------------------- */

TEST_WITH_CONTEXT(found_and_run)
{
    assert_null(tk_ctx_contract_find(ctx, "nine"));
    const tk_contract *op = register_nine(ctx);
    assert_ptr_equal(tk_ctx_contract_find(ctx, "nine"), op);
    assert_ptr_equal(tk_ctx_contract_find(ctx, "gelu_fwd"), tk_contract_find("gelu_fwd"));
    assert_null(tk_contract_find("nine"));
    assert_ptr_not_equal(op->params, nine.params);
    assert_string_equal(op->params[BEST].name, "best");
    tk_case c = tk_case_init(op, TK_F32);
    const int64_t dims[] = {2, 2, 3, 4, 2};
    memcpy(c.dims, dims, sizeof dims);
    c.attributes[ALPHA].real = 2;
    c.attributes[BETA].real = -1;
    c.attributes[OFFSET].integer = 10;
    float x[4] = {1, 2, 3, 4}, y[4] = {1, 1, 1, 1}, bias[2] = {100, 100}, blend[4];
    int64_t weights[6] = {1, 2, 3, 4, 5, 6}, count[2];
    int32_t w[3] = {1, 10, 100}, best[4];
    float scores[8] = {3, 9, 1, 5, 0, 0, 7, 2};
    assert_ok(ctx, tk_run(ctx, &c, (void *[]){x, y, bias, weights, w, scores, blend, count, best}));
    assert_true(blend[0] == 1 && blend[3] == 7);
    assert_true(count[0] == 331 && count[1] == 664);
    assert_memory_equal(best, ((int32_t[]){1, 3, 2, 3}), sizeof best);
    c.attributes[ALPHA].real = 0x1p31;
    assert_int_equal(tk_run(ctx, &c, (void *[]){x, y, bias, weights, w, scores, blend, count, best}),
                     TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_ctx_message(ctx), "alpha"));
}

TEST_WITH_CONTEXT(tensors_that_are_not_always_there)
{
    const tk_contract *op = registered(ctx, &sometimes, some_run, NULL, some_enclose);
    char text[64];
    tk_contract_condition(op, SOME_X, text, sizeof text);
    assert_string_equal(text, "");
    tk_contract_condition(op, SOME_HALF, text, sizeof text);
    assert_string_equal(text, "with mode full");

    tk_case c = tk_case_init(op, TK_I32);
    c.dims[0] = 3;
    int32_t x[3] = {1, 20, 300}, shift[3] = {3, 2, 100}, y[3], half[3] = {7, 7, 7};
    assert_int_equal(tk_case_elements(&c, SOME_SHIFT), 0);
    assert_ok(ctx, tk_run(ctx, &c, (void *[]){x, NULL, y, NULL}));
    assert_memory_equal(y, x, sizeof x);
    assert_ok(ctx, tk_run(ctx, &c, (void *[]){x, x, y, y})); /* pointers that nothing is done with may be anything */
    c.attributes[0].integer = 1;
    assert_int_equal(tk_case_elements(&c, SOME_SHIFT), 3);
    assert_refused(ctx, tk_run(ctx, &c, (void *[]){x, NULL, y, half}), TK_BAD_ARGUMENT, "shift is NULL");
    assert_refused(ctx, tk_run(ctx, &c, (void *[]){x, shift, y, NULL}), TK_BAD_ARGUMENT, "half is NULL");
    assert_ok(ctx, tk_run(ctx, &c, (void *[]){x, shift, shift, half}));
    assert_true(shift[1] == 22 && half[2] == 200);

    for (some_mistake how = SOME_RIGHT; how < SOME_MISTAKES; how++)
        for (uint64_t seed = 5; seed <= (how >= SOME_ONE_PLAIN ? 10 : 5); seed++) {
            tk_certificate *certificate = NULL;
            tk_certify_options options = TK_CERTIFY_DEFAULTS;
            options.kernel = some_run;
            options.kernel_data = &how;
            options.kernel_name = "some_run";
            options.seed = seed;
            assert_ok(ctx, tk_certify(ctx, op, TK_I32, TK_I32, &options, &certificate));
            assert_int_equal(tk_certificate_verdict(certificate), how == SOME_RIGHT ? TK_HELD : TK_REFUTED);
            tk_certificate_destroy(certificate);
        }
}

/* `sometimes` with one tensor's condition changed. */
static void assert_condition_refused(tk_ctx *ctx, int param, uint64_t choices, int attribute, const char *text)
{
    const tk_contract *op = NULL;
    tk_param params[4];
    memcpy(params, some_params, sizeof params);
    params[param].when_choices = choices;
    params[param].when_attribute = attribute;
    tk_contract wrong = sometimes;
    wrong.params = params;
    assert_refused(ctx, register_with(ctx, &wrong, some_run, NULL, &op), TK_BAD_ARGUMENT, text);
}

TEST_WITH_CONTEXT(conditions_that_are_none)
{
    const tk_contract *op = NULL;
    assert_condition_refused(ctx, SOME_SHIFT, 1 << 1, 1, "not a choice seen by kernels");
    assert_condition_refused(ctx, SOME_SHIFT, 1 << 1, -1, "not a choice seen by kernels");
    assert_condition_refused(ctx, SOME_SHIFT, 1 << 2, 0, "a choice that does not exist");
    assert_condition_refused(ctx, SOME_SHIFT, UINT64_C(1) << 63, 0, "a choice that does not exist");
    assert_condition_refused(ctx, SOME_Y, 1, 0, "every output is absent");
    tk_contract wrong = sometimes;
    wrong.attribute_count = 0;
    assert_refused(ctx, register_with(ctx, &wrong, some_run, NULL, &op), TK_BAD_ARGUMENT, "not a choice");
    tk_param params[9];
    memcpy(params, nine.params, sizeof params);
    params[SCORES].when_choices = 1;
    params[SCORES].when_attribute = BIASED;
    wrong = nine;
    wrong.params = params;
    assert_refused(ctx, register_with(ctx, &wrong, run, NULL, &op), TK_BAD_ARGUMENT, "is absent in some cases");
    params[SCORES].when_attribute = ALPHA;
    assert_refused(ctx, register_with(ctx, &wrong, run, NULL, &op), TK_BAD_ARGUMENT, "not a choice");
}

TEST_WITH_CONTEXT(what_is_no_contract)
{
    const tk_contract *op = NULL;
    tk_contract wrong = nine;
    assert_int_equal(register_with(ctx, NULL, run, NULL, &op), TK_BAD_ARGUMENT);
    wrong.name = "gelu_fwd";
    assert_int_equal(register_with(ctx, &wrong, run, NULL, &op), TK_BAD_ARGUMENT);
    wrong.name = "Nine";
    assert_int_equal(register_with(ctx, &wrong, run, NULL, &op), TK_BAD_ARGUMENT);
    wrong = nine;
    wrong.dim_count = 4; /* tensors have the fifth */
    assert_int_equal(register_with(ctx, &wrong, run, NULL, &op), TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_ctx_message(ctx), "a size that the op does not have"));
    wrong = nine;
    wrong.clause_count = 0;
    assert_int_equal(register_with(ctx, &wrong, run, NULL, &op), TK_BAD_ARGUMENT);
    wrong = nine;
    wrong.type_count = 0;
    assert_int_equal(register_with(ctx, &wrong, run, NULL, &op), TK_BAD_ARGUMENT);
    wrong = nine;
    wrong.param_count = 6; /* inputs alone */
    assert_int_equal(register_with(ctx, &wrong, run, NULL, &op), TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_ctx_message(ctx), "no output"));
    tk_attribute attributes[5];
    memcpy(attributes, nine.attributes, sizeof attributes);
    attributes[SPARE].initial.integer = 4;
    wrong = nine;
    wrong.attributes = attributes;
    assert_int_equal(register_with(ctx, &wrong, run, NULL, &op), TK_BAD_ARGUMENT);
    assert_null(op);
    register_nine(ctx);
    assert_int_equal(register_with(ctx, &nine, run, NULL, &op), TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_ctx_message(ctx), "already"));
    assert_int_equal(judge_with(ctx, tk_contract_find("gemm"), enclose, NULL), TK_BAD_ARGUMENT);
}

/* Of most ops below. */
#define F32_ALONE                                \
    .type_count = 1, .types = (const tk_types[]) \
    {                                            \
        {                                        \
            TK_F32, TK_F32                       \
        }                                        \
    }
#define EXACT_CLAUSES .clause_count = 4, .clauses = every_kind

/* What an op of one input gives: y[n] = table[indices[n]], in place of nothing. */
static const tk_clause every_kind[] = {
    {TK_CLAUSE_VALUE, "PICK.VALUE", "every y has the bits that its index points to"},
    {TK_CLAUSE_WRITE, "PICK.WRITE", "every y is written, and nothing else"},
    {TK_CLAUSE_SHAPE, "PICK.SHAPE", "any sizes"},
    {TK_CLAUSE_REPEAT, "PICK.REPEAT", "the same inputs, the same bits"},
    {TK_CLAUSE_INDEX, "PICK.INDEX", "an index out of range is refused"},
    {TK_CLAUSE_IN_PLACE, "PICK.IN_PLACE", "y may be table"},
};

static const tk_contract pick = {
    .name = "pick",
    .summary = "some of a table",
    .formula = "y[i] = table[indices[i]]",
    .bound = "B = 0",
    .dim_count = 2,
    .dim_names = (const char *const[]){"n", "size"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            {.name = "table", .rank = 1, .dim = (const int[]){1}, APART},
            {.name = "indices", .kind = TK_KIND_INDEX, .rank = 1, .dim = (const int[]){0}, .indexed_dim = 1, APART},
            {.name = "y", .output = true, .judged = TK_BY_BITS, .rank = 1, .dim = (const int[]){0}, APART}},
    F32_ALONE,
    .clause_count = 5,
    .clauses = every_kind,
};

static int64_t picked(const tk_case *c, const void *indices, int64_t i)
{
    return c->index_dtype == TK_I64 ? ((const int64_t *)indices)[i] : ((const int32_t *)indices)[i];
}

static int pick_kernel(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    for (int64_t i = 0; i < c->dims[0]; i++)
        memcpy((float *)b[2] + i, (const float *)b[0] + picked(c, b[1], i), sizeof(float));
    return 0;
}

static tk_status pick_enclose(const tk_case *c, const void *const b[], int output, int64_t first, int64_t count,
                              tk_enclosure *out, void *data)
{
    (void)output;
    (void)data;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, (const float *)b[0] + picked(c, b[1], first + i), sizeof bits);
        out[i] = (tk_enclosure){.bits = bits, .admits = TK_ADMIT_RAW_BITS};
    }
    return TK_OK;
}

/* Each kind of failure needs a clause, or it would pass as success: what is not listed and follows from sizes and tensors is added. */
TEST_WITH_CONTEXT(a_contract_has_every_clause_it_needs)
{
    static const char *const texts[] = {
        NULL, "every y is written, nothing else is, and the inputs stay as they were",
        "any n and size, zero included, at any alignment of the element type",
        "the same inputs give the same bits on every run, at every address and thread count",
        "an index out of its range is an error that names the first bad position, and nothing is written"};
    const tk_contract *op = NULL;
    for (int left_out = 0; left_out < 5; left_out++) {
        tk_clause some[4];
        int count = 0;
        for (int i = 0; i < 5; i++)
            if (i != left_out)
                some[count++] = every_kind[i];
        tk_contract wrong = pick;
        wrong.clause_count = count;
        wrong.clauses = some;
        if (left_out == 0) {
            assert_refused(ctx, register_with(ctx, &wrong, pick_kernel, NULL, &op), TK_BAD_ARGUMENT,
                           "it has no clause");
            assert_null(op);
            continue;
        }
        tk_ctx *own = new_context();
        assert_ok(own, register_with(own, &wrong, pick_kernel, NULL, &op));
        assert_int_equal(op->clause_count, 5);
        assert_int_equal(op->clauses[4].kind, every_kind[left_out].kind);
        assert_string_equal(op->clauses[4].id, every_kind[left_out].id);
        assert_string_equal(op->clauses[4].text, texts[left_out]);
        for (int i = 0; i < 4; i++)
            assert_string_equal(op->clauses[i].text, some[i].text);
        /* Listed without id and text it is the same, at its place; with a text of its own it has that. */
        tk_clause own_text[5];
        memcpy(own_text, every_kind, sizeof own_text);
        wrong.clause_count = 5;
        wrong.clauses = own_text;
        for (int k = 0; k < 2; k++) {
            tk_ctx *placed = new_context();
            own_text[left_out].id = NULL;
            own_text[left_out].text = k ? "says more" : NULL;
            assert_ok(placed, register_with(placed, &wrong, pick_kernel, NULL, &op));
            assert_int_equal(op->clause_count, 5);
            assert_string_equal(op->clauses[left_out].id, every_kind[left_out].id);
            assert_string_equal(op->clauses[left_out].text, k ? "says more" : texts[left_out]);
            tk_ctx_destroy(placed);
        }
        wrong.clause_count = count;
        wrong.clauses = some;
        some[0].id = every_kind[left_out].id;
        assert_refused(ctx, register_with(ctx, &wrong, pick_kernel, NULL, &op), TK_BAD_ARGUMENT,
                       "the id of a clause of another kind");
        op = NULL;
        tk_ctx_destroy(own);
    }
    tk_clause many[TK_MAX_CLAUSES];
    char ids[TK_MAX_CLAUSES][16];
    for (int i = 0; i < TK_MAX_CLAUSES; i++) {
        snprintf(ids[i], sizeof ids[i], "P.V%d", i);
        many[i] = (tk_clause){TK_CLAUSE_VALUE, ids[i], "is right"};
    }
    tk_contract wrong = pick;
    wrong.clauses = many;
    wrong.clause_count = TK_MAX_CLAUSES - 3; /* four follow */
    assert_refused(ctx, register_with(ctx, &wrong, pick_kernel, NULL, &op), TK_BAD_ARGUMENT, "too many clauses");
    wrong = pick;
    wrong.clause_count = 6; /* in place, and nothing may be */
    assert_refused(ctx, register_with(ctx, &wrong, pick_kernel, NULL, &op), TK_BAD_ARGUMENT, "TK_CLAUSE_IN_PLACE");
    tk_clause twice[6];
    memcpy(twice, every_kind, sizeof every_kind);
    twice[5] = twice[1];
    wrong.clauses = twice;
    assert_refused(ctx, register_with(ctx, &wrong, pick_kernel, NULL, &op), TK_BAD_ARGUMENT, "the same id");
    assert_null(op);
    assert_ok(ctx, register_with(ctx, &pick, pick_kernel, NULL, &op));
}

/* The library looks at the indices before an implementation does. */
TEST_WITH_CONTEXT(bad_indices_are_refused)
{
    const tk_contract *op = registered(ctx, &pick, pick_kernel, NULL, pick_enclose);
    tk_case c = tk_case_init(op, TK_F32);
    c.dims[0] = 2;
    c.dims[1] = 3;
    float table[] = {1, 2, 3}, y[] = {-1, -1};
    int32_t indices[] = {2, 3};
    assert_refused(ctx, tk_run(ctx, &c, (void *[]){table, indices, y}), TK_BAD_INDEX, "indices[1] = 3");
    assert_true(y[0] == -1 && y[1] == -1);
    assert_held_with_each_index(ctx, op);
}

/* y[i] = how many places group i has. */
static const tk_contract count_groups = {
    .name = "count_groups",
    .summary = "sizes of groups",
    .formula = "y[i] = ends[i] - ends[i-1]",
    .bound = "B = 0",
    .dim_count = 2,
    .dim_names = (const char *const[]){"groups", "size"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            {.name = "table", .rank = 1, .dim = (const int[]){1}, APART},
            {.name = "ends",
             .kind = TK_KIND_INDEX,
             .rank = 1,
             .dim = (const int[]){0},
             .indexed_dim = 1,
             APART,
             .rule = TK_INDICES_ENDS},
            {.name = "y", .output = true, .judged = TK_BY_BITS, .rank = 1, .dim = (const int[]){0}, APART}},
    F32_ALONE,
    .clause_count = 5,
    .clauses = every_kind,
};

static float places_of(const tk_case *c, const void *ends, int64_t group)
{
    return (float)(picked(c, ends, group) - (group ? picked(c, ends, group - 1) : 0));
}

static int count_groups_kernel(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    for (int64_t i = 0; i < c->dims[0]; i++)
        ((float *)b[2])[i] = places_of(c, b[1], i);
    return 0;
}

static tk_status count_groups_enclose(const tk_case *c, const void *const b[], int output, int64_t first,
                                      int64_t count, tk_enclosure *out, void *data)
{
    (void)output;
    (void)data;
    for (int64_t i = 0; i < count; i++) {
        const float places = places_of(c, b[1], first + i);
        uint32_t bits;
        memcpy(&bits, &places, sizeof bits);
        out[i] = (tk_enclosure){.bits = bits, .admits = TK_ADMIT_RAW_BITS};
    }
    return TK_OK;
}

/* Ends of groups may be as large as what they end, and do not descend. */
TEST_WITH_CONTEXT(bad_ends_are_refused)
{
    const tk_contract *op;
    tk_contract wrong = count_groups;
    tk_param params[3];
    memcpy(params, count_groups.params, sizeof params);
    wrong.params = params;
    params[1].indexed_dim = 0;
    assert_refused(ctx, register_with(ctx, &wrong, count_groups_kernel, NULL, &op), TK_BAD_ARGUMENT,
                   "TK_INDICES_ENDS");
    params[1].indexed_dim = 1;
    params[1].kind = TK_KIND_VALUE;
    assert_refused(ctx, register_with(ctx, &wrong, count_groups_kernel, NULL, &op), TK_BAD_ARGUMENT,
                   "TK_INDICES_ENDS");
    op = registered(ctx, &count_groups, count_groups_kernel, NULL, count_groups_enclose);
    tk_case c = tk_case_init(op, TK_F32);
    c.dims[0] = 3;
    c.dims[1] = 5;
    float table[5] = {0}, y[] = {-1, -1, -1};
    assert_refused(ctx, tk_run(ctx, &c, (void *[]){table, (int32_t[]){2, 6, 6}, y}), TK_BAD_INDEX, "ends[1] = 6");
    assert_refused(ctx, tk_run(ctx, &c, (void *[]){table, (int32_t[]){2, 4, 3}, y}), TK_BAD_INDEX, "ends[2] = 3");
    assert_refused(ctx, tk_run(ctx, &c, (void *[]){table, (int32_t[]){-1, 4, 4}, y}), TK_BAD_INDEX, "ends[0] = -1");
    assert_true(y[0] == -1 && y[1] == -1 && y[2] == -1);
    assert_ok(ctx, tk_run(ctx, &c, (void *[]){table, (int32_t[]){2, 2, 5}, y}));
    assert_true(y[0] == 2 && y[1] == 0 && y[2] == 3);
    assert_held_with_each_index(ctx, op);
}

/* More of everything than our own ops have, up to what a contract may have. */
TEST_WITH_CONTEXT(as_large_as_may_be)
{
    char names[TK_MAX_PARAMS][16];
    const char *dim_names[TK_MAX_DIMS];
    tk_param params[TK_MAX_PARAMS];
    int axes[TK_MAX_PARAMS][TK_MAX_RANK];
    tk_attribute attributes[TK_MAX_ATTRIBUTES];
    for (int i = 0; i < TK_MAX_PARAMS; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        dim_names[i] = names[i];
        for (int axis = 0; axis < TK_MAX_RANK; axis++)
            axes[i][axis] = i;
        params[i] = (tk_param){
            .name = names[i], .output = i == TK_MAX_PARAMS - 1, .rank = TK_MAX_RANK, .dim = axes[i], APART};
    }
    for (int i = 0; i < TK_MAX_ATTRIBUTES; i++)
        attributes[i] = (tk_attribute){
            .name = names[i], .text = "a number", .type = TK_ATTRIBUTE_INTEGER, .seen_by_kernel = true};
    tk_contract large = nine;
    large.dim_count = large.param_count = TK_MAX_PARAMS;
    large.dim_names = dim_names;
    large.params = params;
    large.attribute_count = TK_MAX_ATTRIBUTES;
    large.attributes = attributes;
    const tk_contract *op;
    assert_ok(ctx, register_with(ctx, &large, NULL, NULL, &op));
    tk_case c = tk_case_init(op, TK_F32);
    c.dims[TK_MAX_DIMS - 1] = 3;
    assert_int_equal(tk_case_elements(&c, TK_MAX_PARAMS - 1), 6561);
    void *buffers[TK_MAX_PARAMS] = {0};
    float out[6561];
    buffers[TK_MAX_PARAMS - 1] = out;
    assert_ok(ctx, tk_case_check(ctx, &c, buffers));
    assert_int_equal(tk_run(ctx, &c, buffers), TK_UNSUPPORTED);
    large.param_count++;
    assert_int_equal(register_with(ctx, &large, NULL, NULL, &op), TK_BAD_ARGUMENT);
}

static tk_certificate *certify(tk_ctx *ctx, const tk_contract *op, tk_dtype dtype, tk_certify_options options)
{
    tk_certificate *certificate = NULL;
    static const tk_dtype f32 = TK_F32;
    options.seed = 5;
    options.result_dtype = &f32;
    assert_ok(ctx, tk_certify(ctx, op, dtype, TK_I32, &options, &certificate));
    return certificate;
}

TEST_WITH_CONTEXT(right_ones_are_held)
{
    const tk_contract *op = register_nine(ctx);
    for (int i = 0; i < op->type_count; i++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.kernel = run;
        options.kernel_name = "run";
        options.family = "normal";
        tk_certificate *certificate = certify(ctx, op, op->types[i].dtype, options);
        assert_held(certificate);
        assert_true(tk_certificate_elements(certificate) > 10000);
        tk_certificate_destroy(certificate);
    }
}

TEST_WITH_CONTEXT(wrong_ones_are_refuted)
{
    static const char *const clauses[MISTAKES] = {[NO_BIAS] = "NINE.ERR",
                                                  [COUNT_IN_32_BITS] = "NINE.COUNT",
                                                  [SAME_TWICE] = "NINE.ORDER",
                                                  [ASCENDING] = "NINE.ORDER",
                                                  [LAST_UNWRITTEN] = "NINE.WRITE"};
    const tk_contract *op = register_nine(ctx);
    for (mistake m = NO_BIAS; m < MISTAKES; m++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.kernel = run;
        options.kernel_data = &m;
        options.kernel_name = "run";
        tk_certificate *certificate = certify(ctx, op, TK_F32, options);
        if (tk_certificate_verdict(certificate) != TK_REFUTED)
            fail_msg("mistake %d: %s", m, tk_certificate_headline(certificate));
        if (!strstr(tk_certificate_reason(certificate), clauses[m]))
            fail_msg("mistake %d: %s", m, tk_certificate_reason(certificate));
        tk_certificate_destroy(certificate);
    }
}

/* -- A kernel file of it, its certificate, and the replay --------------------------------------------------------- */

static const char kernel_source[] =
    "#include <tokitai_kernel.h>\n"
    "static int find(const tokitai_tensor *t, int n, const char *name)\n"
    "{\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        const char *a = t[i].name, *b = name;\n"
    "        while (*a && *a == *b) { a++; b++; }\n"
    "        if (*a == *b) return i;\n"
    "    }\n"
    "    return -1;\n"
    "}\n"
    "TOKITAI_KERNEL(nine)\n"
    "{\n"
    "    if (count != 9 || call->attribute_count != 5) return 1;\n"
    "    const tokitai_tensor *x = &tensors[find(tensors, count, \"x\")], *y = &tensors[1], *bias = &tensors[2];\n"
    "    const tokitai_tensor *weights = &tensors[3], *w = &tensors[4], *scores = &tensors[5];\n"
    "    float *blend = tensors[find(tensors, count, \"blend\")].data;\n"
    "    int64_t *counts = tensors[7].data;\n"
    "    int32_t *best = tensors[8].data;\n"
    "    const float alpha = tokitai_real(call, \"alpha\"), beta = tokitai_real(call, \"beta\");\n"
    "    const int64_t rows = x->shape[0], cols = x->shape[1], keys = scores->shape[1], top = tensors[8].shape[1];\n"
    "    for (int64_t i = 0; i < rows * cols; i++)\n"
    "        blend[i] = alpha * tokitai_load_as(x->dtype, x->data, i) + beta * tokitai_load_as(y->dtype, y->data, i) "
    "+\n"
    "                   (tokitai_integer(call, \"biased\") ? tokitai_load_as(bias->dtype, bias->data, i % cols) : "
    "0);\n"
    "    for (int64_t r = 0; r < rows; r++) {\n"
    "        uint64_t sum = (uint64_t)tokitai_integer(call, \"offset\");\n"
    "        for (int64_t k = 0; k < weights->shape[1]; k++)\n"
    "            sum += (uint64_t)((const int64_t *)weights->data)[r * weights->shape[1] + k] *\n"
    "                   (uint64_t)((const int32_t *)w->data)[k];\n"
    "        counts[r] = (int64_t)sum;\n"
    "        for (int64_t t = 0; t < top; t++) {\n"
    "            int64_t found = -1;\n"
    "            for (int64_t k = 0; k < keys && t < keys; k++) {\n"
    "                int taken = 0;\n"
    "                for (int64_t u = 0; u < t; u++) taken |= best[r * top + u] == k;\n"
    "                if (!taken && (found < 0 || tokitai_load_as(scores->dtype, scores->data, r * keys + k) >\n"
    "                                                tokitai_load_as(scores->dtype, scores->data, r * keys + "
    "found)))\n"
    "                    found = k;\n"
    "            }\n"
    "            best[r * top + t] = (int32_t)found;\n"
    "        }\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Exit status of the program, its output in `text`. */
static int run_program(const char *arguments, char *text, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command, "'%s' %s 2>&1", getenv("TOKITAI"), arguments);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    text[fread(text, 1, size - 1, out)] = 0;
    const int status = pclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(kernel_file_signed_and_replayed)
{
    char folder[] = "/tmp/tokitai_registered_XXXXXX", path[128], text[4096], *written = NULL, *difference = NULL;
    tk_ctx *ctx = new_context(), *other = new_context();
    const tk_contract *op = NULL;
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.enclose = enclose;
    reference.support_count = 2;
    reference.supports = (const tk_support[]){{"NINE.ERR", "proofs/sums.v", "any_order"},
                                              {"NINE.COUNT", "proofs/sums.v", "any_order"}};
    assert_ok(ctx, register_with(ctx, &nine, run, NULL, &op));
    assert_ok(ctx, tk_contract_judge_by(ctx, op, &reference));
    tk_kernel_file *kernel = NULL;
    tk_key *key = NULL;
    tk_certificate *read = NULL;
    bool same = false;
    int64_t not_listed = -1;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/nine.c", folder);
    write_text(path, kernel_source);
    const tk_kernel_file_options file_options = TK_KERNEL_FILE_DEFAULTS;
    assert_ok(ctx, tk_kernel_file_open(ctx, path, &file_options, &kernel));
    assert_string_equal(tk_kernel_file_problem(kernel), "");
    assert_true(tk_kernel_file_defines(kernel, op));
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel_file = kernel;
    options.family = "normal";
    options.skip_coverage = true;
    tk_certificate *certificate = certify(ctx, op, TK_F16, options);
    assert_held(certificate);

    assert_ok(ctx, tk_key_generate(ctx, &key));
    assert_ok(ctx, tk_certificate_sign(ctx, certificate, key));
    assert_ok(ctx, tk_certificate_write(ctx, certificate, folder, &written));
    assert_ok(ctx, tk_certificate_read(ctx, written, &read));
    assert_ok(ctx, tk_certificate_agrees(ctx, read));
    assert_ok(ctx, tk_certificate_verify(ctx, certificate, key));
    assert_ok(ctx, tk_certificate_replay(ctx, read, NULL, &same, &not_listed, &difference));
    if (!same)
        fail_msg("%s", difference ? difference : "no difference was told");

    /* It says whose exact values these are, and which theorems are about a clause whoever has it. */
    tk_citation citation;
    assert_non_null(strstr(tk_certificate_json(certificate), "\"exact_values\": \"program\""));
    assert_non_null(strstr(tk_certificate_json(certificate), "\"ACCEPTANCE\""));
    assert_true(tk_certificate_cites(certificate, 0, &citation));
    assert_string_equal(citation.state, "same");
    bool cited = false;
    for (int i = 0; tk_certificate_cites(certificate, i, &citation); i++)
        cited |= !strcmp(citation.theorem, "any_order") && !strcmp(citation.state, "same");
    assert_true(cited);
    tk_basis basis;
    for (int i = 0; tk_certificate_rests_on(certificate, i, &basis); i++)
        assert_int_equal(basis.theorems, !strcmp(basis.clause, "NINE.ERR") || !strcmp(basis.clause, "NINE.COUNT"));
    assert_non_null(strstr(tk_certificate_json(certificate), "is that program's word"));

    /* Elsewhere nobody knows the contract: what does not follow from it alone is compared all the same. */
    assert_ok(other, tk_certificate_agrees(other, read));
    assert_int_equal(tk_certificate_replay(other, read, NULL, &same, &not_listed, &difference), TK_UNAVAILABLE);
    assert_non_null(strstr(tk_ctx_message(other), "unknown op 'nine'"));
    snprintf(path, sizeof path, "replay '%s'", written);
    assert_int_equal(run_program(path, text, sizeof text), 3);
    if (!strstr(text, "UNKNOWN") || !strstr(text, "unknown op 'nine'"))
        fail_msg("%s", text);

    tk_certificate_destroy(read);
    tk_certificate_destroy(certificate);
    tk_kernel_file_close(kernel);
    tk_key_destroy(key);
    tk_ctx_destroy(other);
    tk_ctx_destroy(ctx);
    snprintf(text, sizeof text, "rm -r '%s'", folder);
    assert_int_equal(system(text), 0);
    free(written);
    free(difference);
}

/* -- What trials meet --------------------------------------------------------------------------------------------- */

/* y = x, or -x, bit for bit, at each place of a matrix. */
enum { NEGATE };

static const tk_contract signed_copy = {
    .name = "signed_copy",
    .summary = "a copy, or the negative",
    .formula = "y = x or -x",
    .bound = "B = 0",
    .dim_count = 2,
    .dim_names = (const char *const[]){"rows", "cols"},
    .param_count = 2,
    .params =
        (const tk_param[]){
            {.name = "x", .rank = 2, .dim = (const int[]){0, 1}, APART},
            {.name = "y", .output = true, .rank = 2, .dim = (const int[]){0, 1}, APART},
        },
    .type_count = 2,
    .types = (const tk_types[]){{TK_F32, TK_F32}, {TK_F16, TK_F16}},
    .elementwise = true,
    .attribute_count = 1,
    .attributes = (const tk_attribute[]){[NEGATE] = {.name = "negate",
                                                     .text = "whether the sign changes",
                                                     .choice_count = 2,
                                                     .choices = (const tk_choice[]){{"no", "x"}, {"yes", "-x"}},
                                                     .seen_by_kernel = true}},
    EXACT_CLAUSES,
};

typedef struct flaw {
    int64_t beyond;   /* wrong where a tensor is larger */
    uint64_t pattern; /* wrong where x has it and the sign changes */
    double work;      /* that each element is said to cost */
} flaw;

static uint64_t signed_copy_of(const tk_case *c, const void *x, int64_t i)
{
    const uint64_t negate = (uint64_t)c->attributes[NEGATE].integer;
    return c->dtype == TK_F32 ? ((const uint32_t *)x)[i] ^ negate << 31 : ((const uint16_t *)x)[i] ^ negate << 15;
}

static int signed_copy_kernel(const tk_case *c, void *const b[], void *data)
{
    const flaw *f = data;
    const int64_t count = tk_case_elements(c, 0);
    for (int64_t i = 0; i < count; i++) {
        uint64_t y = signed_copy_of(c, b[0], i);
        y ^= (f->beyond && count > f->beyond) ||
             (f->pattern && c->attributes[NEGATE].integer && signed_copy_of(c, b[0], i) == f->pattern);
        memcpy((char *)b[1] + i * (int64_t)tk_dtype_size(c->dtype), &y, tk_dtype_size(c->dtype));
    }
    return 0;
}

static tk_status signed_copy_enclose(const tk_case *c, const void *const b[], int output, int64_t first,
                                     int64_t count, tk_enclosure *out, void *data)
{
    (void)output;
    (void)data;
    for (int64_t i = 0; i < count; i++)
        out[i] = (tk_enclosure){.bits = signed_copy_of(c, b[0], first + i), .admits = TK_ADMIT_RAW_BITS};
    return TK_OK;
}

typedef struct judged {
    tk_verdict verdict;
    int64_t elements;
    bool caveat; /* that one element in a million may be wrong */
    bool says_exhaustive;
} judged;

static double stated_work(const tk_case *c, void *data)
{
    return ((const flaw *)data)->work * (double)tk_case_elements(c, 0);
}

static judged judge(const tk_contract *contract, tk_dtype dtype, tk_level level, flaw f)
{
    tk_ctx *ctx = new_context();
    const tk_contract *op = NULL;
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.enclose = signed_copy_enclose;
    if (level > TK_QUICK && !f.beyond) /* full is that of ours without it, and takes a minute */
        f.work = dtype == TK_F32 && contract == &signed_copy ? 0x1p12 : 0x1p15;
    reference.work = f.work > 0 ? stated_work : NULL;
    reference.user_data = &f;
    assert_ok(ctx, register_with(ctx, contract, NULL, NULL, &op));
    assert_ok(ctx, tk_contract_judge_by(ctx, op, &reference));
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = signed_copy_kernel;
    options.kernel_data = &f;
    options.level = level;
    tk_certificate *certificate = certify_one(ctx, op, dtype, TK_I32, options);
    const judged j = {.verdict = tk_certificate_verdict(certificate),
                      .elements = tk_certificate_elements(certificate),
                      .caveat = strstr(tk_certificate_json(certificate), "one element in a million") != NULL,
                      .says_exhaustive = strstr(tk_certificate_json(certificate), "\"level\": \"exhaustive\"")};
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
    return j;
}

TEST(sizes_beyond_tiles_are_tried)
{
    assert_int_equal(judge(&signed_copy, TK_F32, TK_QUICK, (flaw){.beyond = 65535}).verdict, TK_REFUTED);
    assert_int_equal(judge(&signed_copy, TK_F32, TK_FULL, (flaw){.beyond = 1 << 20}).verdict, TK_REFUTED);
}

TEST(levels_judge_what_they_say)
{
    const judged quick = judge(&signed_copy, TK_F32, TK_QUICK, (flaw){0});
    assert_int_equal(quick.verdict, TK_HELD);
    assert_true(quick.caveat && quick.elements > 200000);
    const judged full = judge(&signed_copy, TK_F32, TK_FULL, (flaw){0});
    assert_int_equal(full.verdict, TK_HELD);
    assert_true(!full.caveat && full.elements >= 5000000);
    /* 2^33 combinations are not all tried. */
    const judged lowered = judge(&signed_copy, TK_F32, TK_EXHAUSTIVE, (flaw){0});
    assert_int_equal(lowered.verdict, TK_HELD);
    assert_false(lowered.says_exhaustive);
    const judged proved = judge(&signed_copy, TK_F16, TK_EXHAUSTIVE, (flaw){0});
    assert_int_equal(proved.verdict, TK_PROVED);
    assert_true(proved.says_exhaustive);
    for (uint64_t pattern = 0x8001; pattern < 0x10000; pattern += 0x4fff)
        assert_int_equal(judge(&signed_copy, TK_F16, TK_EXHAUSTIVE, (flaw){.pattern = pattern}).verdict, TK_REFUTED);
}

/* Four axes, in another order than their sizes have. */
TEST(elementwise_of_rank_4)
{
    tk_contract deep = signed_copy;
    tk_param params[2];
    memcpy(params, signed_copy.params, sizeof params);
    for (int p = 0; p < 2; p++) {
        params[p].rank = 4;
        static const int axes[] = {2, 0, 3, 1};
        params[p].dim = axes;
    }
    deep.dim_count = 4;
    deep.dim_names = (const char *const[]){"b", "h", "rows", "cols"};
    deep.params = params;
    assert_int_equal(judge(&deep, TK_F32, TK_QUICK, (flaw){0}).verdict, TK_HELD);
    assert_int_equal(judge(&deep, TK_F16, TK_EXHAUSTIVE, (flaw){0}).verdict, TK_PROVED);
    assert_int_equal(judge(&deep, TK_F32, TK_QUICK, (flaw){.beyond = 65534}).verdict, TK_REFUTED);
}

TEST(numbers_cannot_all_be_tried)
{
    tk_contract numbered = signed_copy;
    const tk_attribute number = {.name = "negate",
                                 .text = "whether the sign changes",
                                 .type = TK_ATTRIBUTE_INTEGER,
                                 .most = {.integer = 1},
                                 .tried_count = 1,
                                 .tried = (const tk_value[]){{.integer = 1}},
                                 .seen_by_kernel = true};
    numbered.attributes = &number;
    const judged lowered = judge(&numbered, TK_F16, TK_EXHAUSTIVE, (flaw){0});
    assert_int_equal(lowered.verdict, TK_HELD);
    assert_false(lowered.says_exhaustive);
}

/* y[b, h] = the largest of x[b, :, h], and of the squares grid[h, h] its diagonal: an output before the inputs, an inner
 * axis in the middle, and one size twice. */
enum { TOPS_B, TOPS_K, TOPS_H };
enum { TOPS_Y, TOPS_X, TOPS_GRID };

static const tk_contract tops = {
    .name = "tops",
    .summary = "the largest of a middle axis, or of a diagonal",
    .formula = "y[b, h] = max(0, grid[h, h], max over k of x[b, k, h])",
    .bound = "B = 0",
    .dim_count = 3,
    .dim_names = (const char *const[]){"b", "k", "h"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            [TOPS_Y] = {.name = "y", .output = true, .rank = 2, .dim = (const int[]){TOPS_B, TOPS_H}, APART},
            [TOPS_X] = {.name = "x",
                        .rank = 3,
                        .dim = (const int[]){TOPS_B, TOPS_K, TOPS_H},
                        .inner_axis = 1,
                        .may_alias = -1},
            [TOPS_GRID] = {.name = "grid", .rank = 2, .dim = (const int[]){TOPS_H, TOPS_H}, APART},
        },
    F32_ALONE,
    EXACT_CLAUSES,
};

static float top_of(const tk_case *c, const float *x, const float *grid, int64_t at)
{
    const int64_t keys = c->dims[TOPS_K], cols = c->dims[TOPS_H], b = at / cols, h = at % cols;
    float top = grid[h * cols + h] > 0 ? grid[h * cols + h] : 0;
    for (int64_t k = 0; k < keys; k++)
        if (x[(b * keys + k) * cols + h] > top)
            top = x[(b * keys + k) * cols + h];
    return top;
}

static tk_status tops_enclose(const tk_case *c, const void *const b[], int output, int64_t first, int64_t count,
                              tk_enclosure *out, void *data)
{
    (void)data;
    assert_int_equal(output, TOPS_Y);
    for (int64_t i = 0; i < count; i++) {
        const float top = top_of(c, b[TOPS_X], b[TOPS_GRID], first + i);
        out[i] = isinf(top) ? (tk_enclosure){.admits = TK_ADMIT_PLUS_INF}
                            : (tk_enclosure){.lo = (double)top, .hi = (double)top, .admits = TK_ADMIT_INTERVAL};
    }
    return TK_OK;
}

/* *data: wrong from that h on, unless zero. */
static int tops_kernel(const tk_case *c, void *const b[], void *data)
{
    const int64_t wrong = *(const int64_t *)data, cols = c->dims[TOPS_H];
    for (int64_t i = 0; i < c->dims[TOPS_B] * cols; i++)
        ((float *)b[TOPS_Y])[i] = wrong && i % cols >= wrong ? 7e7f : top_of(c, b[TOPS_X], b[TOPS_GRID], i);
    return 0;
}

TEST_WITH_CONTEXT(tensors_of_any_rank_and_order)
{
    int64_t wrong = 0;
    const tk_contract *op = registered(ctx, &tops, NULL, NULL, tops_enclose);
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = tops_kernel;
    options.kernel_data = &wrong;
    tk_certificate *certificate = certify_one(ctx, op, TK_F32, TK_I32, options);
    assert_held(certificate);
    /* Rows are the same without the rows before them. */
    assert_non_null(strstr(tk_certificate_json(certificate), "batch_invariant"));
    tk_certificate_destroy(certificate);
    wrong = 5;
    certificate = certify_one(ctx, op, TK_F32, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    if (!strstr(tk_certificate_reproduce(certificate), "--shape b=1,k=1,h=6"))
        fail_msg("not shrunk: %s", tk_certificate_reproduce(certificate));
    tk_certificate_destroy(certificate);
}

/* y = x & 255, in 64 bits. */
static const tk_param low_params[] = {
    {.name = "x", .kind = TK_KIND_FIXED, .dtype = TK_I64, .rank = 1, .dim = (const int[]){0}, APART},
    {.name = "y",
     .output = true,
     .kind = TK_KIND_FIXED,
     .dtype = TK_I64,
     .judged = TK_BY_INTEGER,
     .rank = 1,
     .dim = (const int[]){0},
     APART}};

static const tk_contract low = {
    .name = "low",
    .summary = "the low byte",
    .formula = "y = x & 255",
    .bound = "B = 0",
    .dim_count = 1,
    .dim_names = (const char *const[]){"n"},
    .param_count = 2,
    .params = low_params,
    F32_ALONE,
    .elementwise = true,
    EXACT_CLAUSES,
};

static tk_status low_enclose(const tk_case *c, const void *const b[], int output, int64_t first, int64_t count,
                             tk_enclosure *out, void *data)
{
    (void)c;
    (void)output;
    (void)data;
    for (int64_t i = 0; i < count; i++)
        out[i] = (tk_enclosure){.bits = (uint64_t)((const int64_t *)b[0])[first + i] & 255, .admits = TK_ADMIT_BITS};
    return TK_OK;
}

/* *data: what is left in the bits above. */
static int low_kernel(const tk_case *c, void *const b[], void *data)
{
    for (int64_t i = 0; i < c->dims[0]; i++)
        ((int64_t *)b[1])[i] = ((const int64_t *)b[0])[i] & *(const int64_t *)data;
    return 0;
}

TEST_WITH_CONTEXT(all_bits_of_an_integer_count)
{
    const tk_contract *op;
    tk_param params[2];
    tk_contract wrong = low;
    memcpy(params, low_params, sizeof params);
    wrong.params = params;
    for (tk_judged_by by = TK_BY_INTERVAL; by <= TK_BY_BITS; by++) {
        params[1].judged = by;
        assert_refused(ctx, register_with(ctx, &wrong, NULL, NULL, &op), TK_BAD_ARGUMENT, "integers");
    }
    params[1].judged = TK_BY_INTEGER;
    params[1].sums_to = 1;
    assert_refused(ctx, register_with(ctx, &wrong, NULL, NULL, &op), TK_BAD_ARGUMENT, "sums_to");
    wrong = signed_copy;
    wrong.params = params;
    memcpy(params, signed_copy.params, sizeof params);
    for (tk_judged_by by = TK_BY_INTEGER; by <= TK_BY_ORDER; by++) {
        params[1].judged = by;
        assert_refused(ctx, register_with(ctx, &wrong, NULL, NULL, &op), TK_BAD_ARGUMENT, "real numbers");
    }
    op = registered(ctx, &low, NULL, NULL, low_enclose);
    static const int64_t kept[] = {255, -256 * (INT64_C(1) << 40) + 255, 0x1ff};
    for (int i = 0; i < 3; i++) {
        int64_t mask = kept[i];
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.kernel = low_kernel;
        options.kernel_data = &mask;
        tk_certificate *certificate = certify_one(ctx, op, TK_F32, TK_I32, options);
        assert_int_equal(tk_certificate_verdict(certificate), i ? TK_REFUTED : TK_HELD);
        if (i == 1 && !strstr(tk_certificate_reproduce(certificate), "--input x=0xf"))
            fail_msg("%s", tk_certificate_reproduce(certificate));
        tk_certificate_destroy(certificate);
    }
}

/* best[k] = where the k largest of keys[n] are, in descending order; -1 behind the last. One row, indices of the case's type. */
static const tk_param largest_params[] = {{.name = "keys", .rank = 1, .dim = (const int[]){0}, APART},
                                          {.name = "best",
                                           .output = true,
                                           .kind = TK_KIND_INDEX,
                                           .judged = TK_BY_ORDER,
                                           .rank = 1,
                                           .dim = (const int[]){1},
                                           APART}};

static const tk_contract largest = {
    .name = "largest",
    .summary = "where the largest keys are",
    .formula = "keys[best[i]] is the i-th largest key",
    .bound = "B = 0",
    .dim_count = 2,
    .dim_names = (const char *const[]){"n", "k"},
    .param_count = 2,
    .params = largest_params,
    F32_ALONE,
    EXACT_CLAUSES,
};

static tk_status largest_enclose(const tk_case *c, const void *const b[], int output, int64_t first, int64_t count,
                                 tk_enclosure *out, void *data)
{
    const int64_t n = c->dims[0];
    double *sorted = malloc((size_t)(n + 1) * sizeof *sorted);
    bool has_nan = false;
    (void)output;
    (void)data;
    for (int64_t i = 0; i < n; i++) {
        sorted[i] = (double)((const float *)b[0])[i];
        has_nan |= isnan(sorted[i]);
    }
    if (!has_nan)
        qsort(sorted, (size_t)n, sizeof *sorted, descending);
    for (int64_t i = 0; i < count; i++) {
        const double key = first + i < n ? sorted[first + i] : 0;
        out[i] = first + i >= n ? (tk_enclosure){.bits = UINT64_MAX, .admits = TK_ADMIT_RAW_BITS}
                 : has_nan      ? (tk_enclosure){.bound = (double)INFINITY,
                                                 .admits = TK_ADMIT_INTERVAL | TK_ADMIT_NAN | TK_ADMIT_PLUS_INF |
                                                           TK_ADMIT_MINUS_INF}
                 : isinf(key)   ? (tk_enclosure){.admits = key > 0 ? TK_ADMIT_PLUS_INF : TK_ADMIT_MINUS_INF}
                                : (tk_enclosure){.lo = key, .hi = key, .admits = TK_ADMIT_INTERVAL};
    }
    free(sorted);
    return TK_OK;
}

typedef struct place {
    float key;
    int64_t at;
} place;

static int larger_first(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key) - (x->key > y->key) : (x->at > y->at) - (x->at < y->at);
}

/* data: every place has the first index. */
static int largest_kernel(const tk_case *c, void *const b[], void *data)
{
    const int64_t n = c->dims[0];
    place *places = malloc((size_t)(n + 1) * sizeof *places);
    for (int64_t i = 0; i < n; i++)
        places[i] = (place){((const float *)b[0])[i], i};
    qsort(places, (size_t)n, sizeof *places, larger_first);
    for (int64_t i = 0; i < c->dims[1]; i++) {
        const int64_t best = i < n ? places[data ? 0 : i].at : -1;
        if (c->index_dtype == TK_I64)
            ((int64_t *)b[1])[i] = best;
        else
            ((int32_t *)b[1])[i] = (int32_t)best;
    }
    free(places);
    return 0;
}

TEST_WITH_CONTEXT(orders_of_one_row_with_infinities)
{
    const tk_contract *op;
    tk_contract wrong = largest;
    tk_param params[2];
    memcpy(params, largest_params, sizeof params);
    wrong.params = params;
    params[1].indexed_dim = 9999999;
    assert_refused(ctx, register_with(ctx, &wrong, NULL, NULL, &op), TK_BAD_ARGUMENT, "indexed_dim");
    params[1].indexed_dim = 0;
    params[0].rank = 2;
    params[0].dim = (const int[]){0, 1};
    assert_refused(ctx, register_with(ctx, &wrong, NULL, NULL, &op), TK_BAD_ARGUMENT, "other rows");
    op = registered(ctx, &largest, largest_kernel, NULL, largest_enclose);
    int truth = 1;
    for (int i = 0; i < 3; i++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.kernel = i ? largest_kernel : NULL; /* or the registered one */
        options.kernel_data = i == 2 ? &truth : NULL;
        tk_certificate *certificate = certify_one(ctx, op, TK_F32, i % 2 ? TK_I64 : TK_I32, options);
        if (tk_certificate_verdict(certificate) != (i == 2 ? TK_REFUTED : TK_HELD))
            fail_msg("%d: %s: %s", i, tk_certificate_headline(certificate), tk_certificate_reason(certificate));
        tk_certificate_destroy(certificate);
    }
}

typedef enum bad_enclosure {
    NO_FLAG,
    NO_CLAUSE,
    NAN_INTERVAL,
    INFINITE_INTERVAL,
    NO_INTEGER,
    BAD_ENCLOSURES
} bad_enclosure;

static tk_status bad_enclose(const tk_case *c, const void *const b[], int output, int64_t first, int64_t count,
                             tk_enclosure *out, void *data)
{
    static const tk_enclosure given[BAD_ENCLOSURES] = {
        [NO_CLAUSE] = {.admits = TK_ADMIT_BITS, .clause = 4},
        [NAN_INTERVAL] = {.lo = (double)NAN, .admits = TK_ADMIT_BITS | TK_ADMIT_INTERVAL},
        [INFINITE_INTERVAL] = {.hi = (double)INFINITY, .admits = TK_ADMIT_BITS | TK_ADMIT_INTERVAL},
        [NO_INTEGER] = {.admits = TK_ADMIT_ZERO}};
    (void)c;
    (void)b;
    (void)output;
    (void)first;
    for (int64_t i = 0; i < count; i++)
        out[i] = given[*(const bad_enclosure *)data];
    return TK_OK;
}

TEST(enclosures_that_are_none)
{
    for (bad_enclosure bad = 0; bad < BAD_ENCLOSURES; bad++) {
        tk_ctx *ctx = new_context();
        const tk_contract *op;
        int64_t mask = 255;
        tk_certificate *certificate;
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.kernel = low_kernel;
        options.kernel_data = &mask;
        assert_ok(ctx, register_with(ctx, &low, NULL, NULL, &op));
        assert_ok(ctx, judge_with(ctx, op, bad_enclose, &bad));
        assert_refused(ctx, tk_certify(ctx, op, TK_F32, TK_I32, &options, &certificate), TK_BAD_ARGUMENT,
                       "exact values of low");
        tk_ctx_destroy(ctx);
    }
}

/* -- What registration refuses ------------------------------------------------------------------------------------ */

static void assert_no_attribute(tk_attribute attribute, const char *text)
{
    tk_ctx *ctx = new_context();
    const tk_contract *op;
    tk_contract wrong = low;
    wrong.attribute_count = 1;
    wrong.attributes = &attribute;
    assert_refused(ctx, register_with(ctx, &wrong, NULL, NULL, &op), TK_BAD_ARGUMENT, text);
    tk_ctx_destroy(ctx);
}

TEST(attributes_that_are_none)
{
    static const tk_choice twice[] = {{"a", "one"}, {"a", "the other"}};
    const tk_attribute number = {
        .name = "number", .text = "a number", .type = TK_ATTRIBUTE_INTEGER, .most = {.integer = 9}};
    static const char *const names[] = {"domain", "numerics", "matrix_unit"};
    tk_attribute wrong;
    for (int i = 0; i < 3; i++) {
        wrong = number;
        wrong.name = names[i];
        assert_no_attribute(wrong, "must have the role");
    }
    wrong = number;
    wrong.name = "An odd name";
    assert_no_attribute(wrong, "no valid or unique name");
    wrong.name = "a_name_that_has_thirty_two_bytes";
    assert_no_attribute(wrong, "no valid or unique name");
    wrong = number;
    wrong.tried_count = -1;
    assert_no_attribute(wrong, "tried_count");
    wrong.tried_count = 1 << 30;
    assert_no_attribute(wrong, "tried_count");
    wrong.tried_count = 1; /* and no values */
    assert_no_attribute(wrong, "tried_count");
    wrong = (tk_attribute){.name = "choice", .text = "a choice", .choice_count = 2};
    assert_no_attribute(wrong, "choices");
    wrong.choices = twice;
    assert_no_attribute(wrong, "unique id");
    tk_ctx *ctx = new_context();
    const tk_contract *op;
    tk_contract none = low;
    none.attribute_count = 1;
    assert_int_equal(register_with(ctx, &none, NULL, NULL, &op), TK_BAD_ARGUMENT);
    const tk_attribute equal[] = {number, number};
    none.attribute_count = 2;
    none.attributes = equal;
    assert_refused(ctx, register_with(ctx, &none, NULL, NULL, &op), TK_BAD_ARGUMENT, "unique name");
    none = low;
    none.dim_names = NULL;
    assert_int_equal(register_with(ctx, &none, NULL, NULL, &op), TK_BAD_ARGUMENT);
    none = low;
    none.params = NULL;
    assert_int_equal(register_with(ctx, &none, NULL, NULL, &op), TK_BAD_ARGUMENT);
    none = low;
    none.clauses = NULL;
    assert_int_equal(register_with(ctx, &none, NULL, NULL, &op), TK_BAD_ARGUMENT);
    tk_param params[2];
    none = low;
    none.params = params;
    memcpy(params, low_params, sizeof params);
    params[1].may_alias = 1; /* itself */
    assert_refused(ctx, register_with(ctx, &none, NULL, NULL, &op), TK_BAD_ARGUMENT, "may_alias");
    params[1].may_alias = 0; /* a clause of it follows */
    assert_ok(ctx, register_with(ctx, &none, NULL, NULL, &op));
    assert_int_equal(op->clauses[op->clause_count - 1].kind, TK_CLAUSE_IN_PLACE);
    assert_string_equal(op->clauses[op->clause_count - 1].id, "LOW.INPLACE");
    assert_string_equal(op->clauses[op->clause_count - 1].text, "y may be the buffer of x");
    params[1].may_alias = -1;
    params[0].rank = params[1].rank = 0;
    assert_refused(ctx, register_with(ctx, &none, NULL, NULL, &op), TK_BAD_ARGUMENT, "rank");
    tk_ctx_destroy(ctx);
}

/* A copy may have been changed since the contract was checked; one of another context may be gone. */
TEST_WITH_CONTEXT(contracts_are_known_by_their_address)
{
    tk_ctx *other = new_context();
    tk_certificate *certificate;
    int64_t mask = 255, x = 511, y = 0;
    const tk_contract *op = registered(ctx, &low, low_kernel, &mask, low_enclose);
    tk_contract copied = *op;
    tk_contract gelu = *tk_contract_find("gelu_fwd");
    tk_case c = tk_case_init(&copied, TK_F32);
    c.dims[0] = 1;
    assert_refused(ctx, tk_run(ctx, &c, (void *[]){&x, &y}), TK_BAD_ARGUMENT, "a copy");
    c.contract = op;
    assert_refused(other, tk_run(other, &c, (void *[]){&x, &y}), TK_BAD_ARGUMENT, "another context");
    assert_ok(ctx, tk_run(ctx, &c, (void *[]){&x, &y}));
    assert_int_equal(y, 255);
    assert_int_equal(judge_with(ctx, &copied, low_enclose, NULL), TK_BAD_ARGUMENT);
    assert_int_equal(judge_with(other, op, low_enclose, NULL), TK_BAD_ARGUMENT);
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    assert_int_equal(tk_certify(ctx, &copied, TK_F32, TK_I32, &options, &certificate), TK_BAD_ARGUMENT);
    assert_int_equal(tk_certify(other, op, TK_F32, TK_I32, &options, &certificate), TK_BAD_ARGUMENT);
    assert_int_equal(tk_certify(ctx, &gelu, TK_F16, TK_I32, &options, &certificate), TK_BAD_ARGUMENT);
    tk_ctx_destroy(other);
}

/* -- What a certificate says of attributes that kernels do not see ------------------------------------------------- */

TEST_WITH_CONTEXT(restrictions_are_in_the_headline)
{
    static const tk_choice choices[] = {{"high", "as exact as it can be"}, {"low", "less so"}};
    const tk_attribute attributes[] = {
        {.name = "level", .text = "how exact it is", .choice_count = 2, .choices = choices},
        {.name = "kind", .text = "a number", .type = TK_ATTRIBUTE_INTEGER, .most = {.integer = 9}}};
    const tk_setting settings[] = {{"level", "low"}, {"kind", "3"}};
    tk_contract restricted = low;
    restricted.attribute_count = 2;
    restricted.attributes = attributes;
    tk_certificate *read;
    int64_t mask = 255;
    const int64_t dims[] = {3};
    const tk_contract *op = registered(ctx, &restricted, low_kernel, &mask, low_enclose);
    for (int shaped = 0; shaped < 2; shaped++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.settings = settings;
        options.setting_count = 2;
        options.dims = shaped ? dims : NULL;
        tk_certificate *certificate = certify_one(ctx, op, TK_F32, TK_I32, options);
        assert_string_equal(tk_certificate_headline(certificate),
                            shaped ? "HELD with kind=3 level=low for one case: n=3" : "HELD with kind=3 level=low");
        assert_non_null(strstr(tk_certificate_json(certificate), "\"level\": \"quick\""));
        const char *text = tk_certificate_json(certificate);
        assert_ok(ctx, tk_certificate_parse(ctx, text, strlen(text), &read));
        assert_ok(ctx, tk_certificate_agrees(ctx, read));
        bool same = false;
        assert_ok(ctx, tk_certificate_replay(ctx, read, NULL, &same, NULL, NULL));
        assert_true(same);
        tk_certificate_destroy(read);
        tk_certificate_destroy(certificate);
    }
}

/* Names out of alphabetical order, and a reader that outlives the context that knew the op. */
TEST(certificates_outlive_a_context)
{
    tk_ctx *ctx = new_context(), *other = new_context();
    const tk_contract *op;
    tk_certificate *read;
    flaw none = {0};
    const int64_t dims[] = {3, 2};
    op = registered(ctx, &signed_copy, signed_copy_kernel, &none, signed_copy_enclose);
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.dims = dims;
    tk_certificate *certificate = certify_one(ctx, op, TK_F32, TK_I32, options);
    const char *text = tk_certificate_json(certificate);
    assert_ok(ctx, tk_certificate_parse(ctx, text, strlen(text), &read));
    assert_string_equal(tk_certificate_headline(certificate), "HELD for one case: cols=2 rows=3");
    assert_ok(ctx, tk_certificate_agrees(ctx, read));
    tk_ctx_destroy(ctx);
    assert_ok(other, tk_certificate_agrees(other, read));
    assert_ok(other, tk_certificate_agrees(other, certificate));
    tk_certificate_destroy(read);
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(other);
}

/* Whatever was in memory before, a family gives the same inputs. */
TEST(families_fill_every_element)
{
    static const tk_contract *const contracts[] = {&tops, &signed_copy, &nine, &pick};
    for (size_t i = 0; i < sizeof contracts / sizeof *contracts; i++)
        for (int family = 0; tk_family_at(family, NULL); family++) {
            tk_case c = tk_case_init(contracts[i], TK_F32);
            void *filled[2][TK_MAX_PARAMS] = {{NULL}};
            for (int d = 0; d < contracts[i]->dim_count; d++)
                c.dims[d] = 3 + d;
            for (int run = 0; run < 2 && tk_family_applies(family, contracts[i]); run++) {
                for (int p = 0; p < contracts[i]->param_count; p++) {
                    filled[run][p] = malloc(tki_param_bytes(&c, p));
                    memset(filled[run][p], run ? 0xff : 0, tki_param_bytes(&c, p));
                }
                tki_family_fill(family, &c, 7, filled[run]);
            }
            for (int p = 0; p < contracts[i]->param_count; p++) {
                if (!contracts[i]->params[p].output && filled[0][p] &&
                    memcmp(filled[0][p], filled[1][p], tki_param_bytes(&c, p)) != 0)
                    fail_msg("%s leaves some of %s out", tk_family_at(family, NULL), contracts[i]->params[p].name);
                free(filled[0][p]);
                free(filled[1][p]);
            }
        }
}

/* Every input is tried in one long line, which takes tensors of one shape. */
TEST_WITH_CONTEXT(what_is_elementwise)
{
    const tk_contract *op;
    tk_param params[2];
    tk_contract wrong = signed_copy;
    memcpy(params, signed_copy.params, sizeof params);
    wrong.params = params;
    params[0].rank = 1;
    assert_refused(ctx, register_with(ctx, &wrong, NULL, NULL, &op), TK_BAD_ARGUMENT, "elementwise");
    params[0].rank = 2;
    params[0].dim = params[1].dim = (const int[]){0, 0};
    assert_refused(ctx, register_with(ctx, &wrong, NULL, NULL, &op), TK_BAD_ARGUMENT, "the same size twice");
}

TEST_WITH_CONTEXT(without_exact_values_nothing_is_judged)
{
    const tk_contract *op;
    tk_certificate *certificate = NULL;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = run;
    assert_ok(ctx, register_with(ctx, &nine, run, NULL, &op));
    assert_int_equal(tk_certify(ctx, op, TK_F32, TK_I32, &options, &certificate), TK_UNAVAILABLE);
    assert_null(certificate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_and_run),
        cmocka_unit_test(what_is_no_contract),
        cmocka_unit_test(a_contract_has_every_clause_it_needs),
        cmocka_unit_test(tensors_that_are_not_always_there),
        cmocka_unit_test(conditions_that_are_none),
        cmocka_unit_test(bad_indices_are_refused),
        cmocka_unit_test(bad_ends_are_refused),
        cmocka_unit_test(as_large_as_may_be),
        cmocka_unit_test(right_ones_are_held),
        cmocka_unit_test(wrong_ones_are_refuted),
        cmocka_unit_test(kernel_file_signed_and_replayed),
        cmocka_unit_test(sizes_beyond_tiles_are_tried),
        cmocka_unit_test(levels_judge_what_they_say),
        cmocka_unit_test(elementwise_of_rank_4),
        cmocka_unit_test(numbers_cannot_all_be_tried),
        cmocka_unit_test(what_is_elementwise),
        cmocka_unit_test(tensors_of_any_rank_and_order),
        cmocka_unit_test(all_bits_of_an_integer_count),
        cmocka_unit_test(orders_of_one_row_with_infinities),
        cmocka_unit_test(enclosures_that_are_none),
        cmocka_unit_test(attributes_that_are_none),
        cmocka_unit_test(contracts_are_known_by_their_address),
        cmocka_unit_test(restrictions_are_in_the_headline),
        cmocka_unit_test(certificates_outlive_a_context),
        cmocka_unit_test(families_fill_every_element),
        cmocka_unit_test(without_exact_values_nothing_is_judged),
    };
    return cmocka_run_group_tests_name("registered", tests, NULL, NULL);
}
