/* What a registered contract says beyond shapes: constraints on sizes, ranges of inputs, attributes in double, tensors of eight axes, indices
 * that nothing is picked by. Trials keep to it, and cases that do not are refused. */
#include <math.h>

#include "core/dtype.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"

/* y = factor x, in double and rounded once; `share` is between 0.25 and 1, `far` lies beyond 1000. */
enum { X, SHARE, FAR, PICKS, Y };
enum { ROWS, COLS, NOTHING };

static const tk_clause clauses[] = {{TK_CLAUSE_VALUE, "RULES.VALUE", "every y is factor x, rounded once"},
                                    {TK_CLAUSE_WRITE, "RULES.WRITE", "every y is written, and nothing else"},
                                    {TK_CLAUSE_SHAPE, "RULES.SHAPE", "any sizes that the contract allows"},
                                    {TK_CLAUSE_REPEAT, "RULES.REPEAT", "the same inputs, the same bits"},
                                    {TK_CLAUSE_INDEX, "RULES.INDEX", "a bad index is refused"}};

static const tk_param params[] = {
    [X] = {.name = "x", .rank = 2, .dim = (const int[]){ROWS, COLS}, APART},
    [SHARE] = {.name = "share", .rank = 1, .dim = (const int[]){COLS}, APART, .least = 0.25, .most = 1},
    [FAR] = {.name = "far",
             .kind = TK_KIND_FIXED,
             .dtype = TK_F32,
             .rank = 1,
             .dim = (const int[]){COLS},
             APART,
             .least = 1000,
             .most = 0x1p127},
    [PICKS] = {.name = "picks",
               .kind = TK_KIND_INDEX,
               .rank = 1,
               .dim = (const int[]){ROWS},
               .indexed_dim = NOTHING,
               APART},
    [Y] = {.name = "y", .output = true, .rank = 2, .dim = (const int[]){ROWS, COLS}, APART}};

static const double tenth = 0.1;

static const tk_attribute factor = {.name = "factor",
                                    .text = "of x",
                                    .type = TK_ATTRIBUTE_REAL,
                                    .initial = {.real = 0.1},
                                    .least = {.real = -0x1p1000},
                                    .most = {.real = 0x1p1000},
                                    .seen_by_kernel = true};

/* Both sizes are multiples of 8, and there are not fewer columns than rows. */
static const char *refuse(const tk_case *c)
{
    if (c->dims[ROWS] % 8 || c->dims[COLS] % 8)
        return "rows and cols must be multiples of 8";
    return c->dims[COLS] < c->dims[ROWS] ? "cols must be at least rows" : NULL;
}

static const char *refuse_zeros(const tk_case *c)
{
    return c->dims[ROWS] && c->dims[COLS] ? NULL : "neither rows nor cols may be 0";
}

static const char *refuse_all(const tk_case *c)
{
    (void)c;
    return "nothing is ever right";
}

static const tk_contract rules = {
    .name = "rules",
    .summary = "a multiple",
    .formula = "y = factor x",
    .bound = "B = 0",
    .dim_count = 3,
    .dim_names = (const char *const[]){"rows", "cols", "nothing"},
    .param_count = 5,
    .params = params,
    .type_count = 2,
    .types = (const tk_types[]){{TK_F32, TK_F32}, {TK_F16, TK_F16}},
    .attribute_count = 1,
    .attributes = &factor,
    .refusal = refuse,
    .clause_count = 5,
    .clauses = clauses,
};

static float value_of(const tk_case *c, const void *x, int64_t i)
{
    const float in = c->dtype == TK_F32 ? ((const float *)x)[i] : tki_f16_to_f32(((const uint16_t *)x)[i]);
    return (float)(c->attributes[0].real * (double)in);
}

/* What the trials of a certificate had, for those who look. */
static struct {
    int64_t calls, breaches; /* of the contract's rules */
    int64_t most_rows, most_cols;
} seen;

static int run(const tk_case *c, void *const b[], void *data)
{
    const bool in_fp32 = data != NULL;
    seen.calls++;
    seen.breaches += c->contract->refusal && c->contract->refusal(c) != NULL;
    seen.most_rows = c->dims[ROWS] > seen.most_rows ? c->dims[ROWS] : seen.most_rows;
    seen.most_cols = c->dims[COLS] > seen.most_cols ? c->dims[COLS] : seen.most_cols;
    for (int64_t i = 0; i < c->dims[COLS] && c->contract->param_count == 5; i++) {
        const float share = c->dtype == TK_F32 ? ((const float *)b[SHARE])[i]
                                               : tki_f16_to_f32(((const uint16_t *)b[SHARE])[i]);
        const float distance = ((const float *)b[FAR])[i];
        seen.breaches += !(share >= 0.25f && share <= 1) + !(distance >= 1000 && distance <= 0x1p127f);
    }
    void *y = b[c->contract->param_count - 1];
    for (int64_t i = 0; i < tk_case_elements(c, X); i++) {
        float value = value_of(c, b[X], i);
        if (in_fp32)
            value = (float)c->attributes[0].real * (c->dtype == TK_F32 ? ((const float *)b[X])[i] : 0);
        if (c->dtype == TK_F32)
            ((float *)y)[i] = value;
        else
            ((uint16_t *)y)[i] = tki_f32_to_f16(value);
    }
    return 0;
}

static int run_nothing(const tk_case *c, void *const b[], void *data)
{
    (void)c;
    (void)b;
    (void)data;
    return 1;
}

static tk_status enclose(const tk_case *c, const void *const b[], int output, int64_t first, int64_t count,
                         tk_enclosure *out, void *data)
{
    (void)output;
    (void)data;
    for (int64_t i = 0; i < count; i++) {
        const float value = value_of(c, b[X], first + i);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        if (c->dtype == TK_F16)
            bits = tki_f32_to_f16(value);
        out[i] = (tk_enclosure){.bits = bits, .admits = isnan(value) ? TK_ADMIT_NAN : TK_ADMIT_BITS};
    }
    return TK_OK;
}

/* With `kernel` as its only implementation, and a mutant if it is given one. */
static const tk_contract *registered(tk_ctx *ctx, const tk_contract *contract, tk_kernel kernel, void *data,
                                     const tk_planted *mutant)
{
    const tk_contract *op = NULL;
    const tk_implementation plain = {.name = "plain", .run = kernel, .user_data = data};
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.enclose = enclose;
    reference.mutant_count = mutant != NULL;
    reference.mutants = mutant;
    assert_ok(ctx, tk_contract_register(ctx, contract, 1, &plain, &op));
    assert_ok(ctx, tk_contract_judge_by(ctx, op, &reference));
    return op;
}

static void assert_verdict(const tk_certificate *certificate, tk_verdict verdict, const char *reason)
{
    if (tk_certificate_verdict(certificate) != verdict || !strstr(tk_certificate_reason(certificate), reason))
        fail_msg("%s: %s", tk_certificate_headline(certificate), tk_certificate_reason(certificate));
}

/* Trials meet sizes that the constraints allow, small and large, and inputs in their ranges. */
TEST_WITH_CONTEXT(trials_keep_to_the_rules)
{
    const tk_contract *op = registered(ctx, &rules, run, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        memset(&seen, 0, sizeof seen);
        tk_certificate *certificate = certify_one(ctx, op, op->types[i].dtype, TK_I32,
                                                  (tk_certify_options)TK_CERTIFY_DEFAULTS);
        assert_verdict(certificate, TK_HELD, "");
        assert_true(seen.calls > 200 && seen.breaches == 0);
        assert_true(seen.most_rows >= 64 && seen.most_cols >= 1024);
        tk_certificate_destroy(certificate);
    }
}

TEST_WITH_CONTEXT(cases_that_break_them_are_refused)
{
    const tk_contract *op = registered(ctx, &rules, run, NULL, NULL);
    float x[64] = {0}, share[8] = {1, 1, 1, 1, 1, 1, 1, 1}, distance[8], y[64];
    int32_t picks[8] = {0};
    void *const buffers[] = {x, share, distance, picks, y};
    tk_case c = tk_case_init(op, TK_F32);
    c.dims[ROWS] = c.dims[COLS] = 8;
    c.dims[NOTHING] = 1;
    for (int i = 0; i < 8; i++)
        distance[i] = 1000;
    x[3] = 3;
    assert_ok(ctx, tk_run(ctx, &c, buffers));
    assert_true(y[3] == (float)(tenth * 3));
    picks[7] = 1;
    assert_refused(ctx, tk_run(ctx, &c, buffers), TK_BAD_INDEX, "picks[7] = 1");
    picks[7] = 0;
    c.dims[ROWS] = 7;
    assert_refused(ctx, tk_run(ctx, &c, buffers), TK_BAD_ARGUMENT, "rows and cols must be multiples of 8");
    c.dims[ROWS] = 16;
    assert_refused(ctx, tk_run(ctx, &c, buffers), TK_BAD_ARGUMENT, "cols must be at least rows");
    tk_certificate *certificate = NULL;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    const int64_t bad[] = {8, 9, 1}, good[] = {8, 8, 1};
    options.dims = bad;
    assert_refused(ctx, tk_certify(ctx, op, TK_F32, TK_I32, &options, &certificate), TK_BAD_ARGUMENT,
                   "multiples of 8");
    options.dims = good;
    certificate = certify_one(ctx, op, TK_F32, TK_I32, options);
    assert_verdict(certificate, TK_HELD, "");
    tk_certificate_destroy(certificate);
}

/* An attribute's double reaches kernels as it is: what rounds it to fp32 is wrong. */
TEST_WITH_CONTEXT(numbers_keep_their_bits)
{
    static int in_fp32;
    const tk_contract *op = registered(ctx, &rules, run, &in_fp32, NULL);
    tk_certificate *certificate = certify_one(ctx, op, TK_F32, TK_I32, (tk_certify_options)TK_CERTIFY_DEFAULTS);
    assert_verdict(certificate, TK_REFUTED, "RULES.VALUE");
    assert_non_null(strstr(tk_certificate_json(certificate), "0.1"));
    tk_certificate_destroy(certificate);
}

/* With nothing to try, nothing is held. */
TEST_WITH_CONTEXT(what_no_case_satisfies_is_refused)
{
    tk_contract never = rules;
    never.refusal = refuse_all;
    const tk_contract *op = registered(ctx, &never, run, NULL, NULL);
    tk_certificate *certificate = NULL;
    const tk_certify_options options = TK_CERTIFY_DEFAULTS;
    assert_refused(ctx, tk_certify(ctx, op, TK_F32, TK_I32, &options, &certificate), TK_BAD_ARGUMENT,
                   "nothing is ever right");
    assert_null(certificate);
}

/* No size may be 0: neither is one at which trials begin. */
TEST_WITH_CONTEXT(no_size_is_zero)
{
    tk_contract positive = rules;
    positive.refusal = refuse_zeros;
    const tk_contract *op = registered(ctx, &positive, run, NULL, NULL);
    memset(&seen, 0, sizeof seen);
    tk_certificate *certificate = certify_one(ctx, op, TK_F32, TK_I32, (tk_certify_options)TK_CERTIFY_DEFAULTS);
    assert_verdict(certificate, TK_HELD, "");
    assert_true(seen.calls > 400 && seen.breaches == 0);
    tk_certificate_destroy(certificate);
}

/* A mutant that refuses to run has not been rejected. */
TEST_WITH_CONTEXT(a_mutant_that_fails_is_not_rejected)
{
    const tk_planted mutant = {"fails", "computes nothing", run_nothing, NULL, TK_QUICK};
    const tk_contract *op = registered(ctx, &rules, run, NULL, &mutant);
    int rejected = -1;
    tk_certificate *certificate = certify_one(ctx, op, TK_F32, TK_I32, (tk_certify_options)TK_CERTIFY_DEFAULTS);
    assert_int_equal(tk_certificate_mutants(certificate, &rejected), 1);
    assert_int_equal(rejected, 0);
    tk_certificate_destroy(certificate);
}

/* Sizes that a function changes without saying so. */
static void derive_all(tk_case *c)
{
    for (int d = 0; d < 3; d++)
        c->dims[d]++;
}

TEST_WITH_CONTEXT(sizes_that_are_derived_in_secret)
{
    static const char *const none[3];
    tk_contract secret = rules;
    secret.derive = derive_all;
    secret.derived = none;
    const tk_contract *op = registered(ctx, &secret, run, NULL, NULL);
    tk_case c = tk_case_init(op, TK_F32);
    void *const buffers[5] = {NULL};
    assert_refused(ctx, tk_run(ctx, &c, buffers), TK_BAD_ARGUMENT, "sets rows");
    tk_certificate *certificate = NULL;
    const tk_certify_options options = TK_CERTIFY_DEFAULTS;
    assert_refused(ctx, tk_certify(ctx, op, TK_F32, TK_I32, &options, &certificate), TK_BAD_ARGUMENT, "sets rows");
}

TEST_WITH_CONTEXT(eight_axes)
{
    static const int all[] = {7, 5, 3, 1, 0, 2, 4, 6};
    const tk_param deep_params[] = {{.name = "x", .rank = 8, .dim = all, APART},
                                    {.name = "y", .output = true, .rank = 8, .dim = all, APART}};
    tk_contract deep = rules;
    deep.dim_count = 8;
    deep.dim_names = (const char *const[]){"a", "b", "c", "d", "e", "f", "g", "h"};
    deep.param_count = 2;
    deep.params = deep_params;
    deep.refusal = NULL;
    deep.clause_count = 4; /* no indices */
    static int in_fp32;
    for (int i = 0; i < 2; i++) {
        tk_ctx *own = new_context();
        const tk_contract *op = registered(own, &deep, run, i ? &in_fp32 : NULL, NULL);
        tk_certificate *certificate = certify_one(own, op, TK_F32, TK_I32, (tk_certify_options)TK_CERTIFY_DEFAULTS);
        assert_verdict(certificate, i ? TK_REFUTED : TK_HELD, "");
        assert_true(i || tk_certificate_elements(certificate) > 100000);
        tk_certificate_destroy(certificate);
        tk_ctx_destroy(own);
    }
    (void)ctx;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_keep_to_the_rules),
        cmocka_unit_test(cases_that_break_them_are_refused),
        cmocka_unit_test(numbers_keep_their_bits),
        cmocka_unit_test(what_no_case_satisfies_is_refused),
        cmocka_unit_test(no_size_is_zero),
        cmocka_unit_test(a_mutant_that_fails_is_not_rejected),
        cmocka_unit_test(sizes_that_are_derived_in_secret),
        cmocka_unit_test(eight_axes),
    };
    return cmocka_run_group_tests_name("contract_rules", tests, NULL, NULL);
}
