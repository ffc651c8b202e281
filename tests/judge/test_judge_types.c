/* The judge in fp32, and in fp32 results of 16-bit inputs: with two ops made up here, a copy and a product of two
 * elements, both without any tolerance, a right kernel holds in every trial of the level and each wrong one is
 * refuted. */
#include <math.h>
#include <stdlib.h>

#include "core/context.h"
#include "exact/round.h"
#include "judge/trial.h"
#include "model/contract_parts.h"
#include "runtime/kernel_runner.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"
#include "trials/levels.h"
#include "trials/shrink.h"

enum { ERR, NANS, WRITE, SHAPE, REPEAT };

#define INPUT(called)                                                                    \
    {                                                                                    \
        .name = called, .kind = TK_KIND_VALUE, .rank = 1, .dim = (const int[]){0}, APART \
    }
#define OUTPUT(called)                                                                                    \
    {                                                                                                     \
        .name = called, .output = true, .kind = TK_KIND_RESULT, .rank = 1, .dim = (const int[]){0}, APART \
    }
#define CLAUSES                                                                              \
    .clause_count = 5, .clauses = (const tk_clause[])                                        \
    {                                                                                        \
        {TK_CLAUSE_ERROR, "ERR", "no error"}, {TK_CLAUSE_VALUE, "NAN", "NaN stays"},         \
            {TK_CLAUSE_WRITE, "WRITE", "all of it"}, {TK_CLAUSE_SHAPE, "SHAPE", "any size"}, \
        {                                                                                    \
            TK_CLAUSE_REPEAT, "REPEAT", "the same again"                                     \
        }                                                                                    \
    }

/* A copy to fewer bits is a cast. */
static const tk_contract copies = {.name = "copies",
                                   .type_count = 9,
                                   .types = (const tk_types[]){{TK_F16, TK_F16},
                                                               {TK_BF16, TK_BF16},
                                                               {TK_F32, TK_F32},
                                                               {TK_F16, TK_F32},
                                                               {TK_BF16, TK_F32},
                                                               {TK_F32, TK_F8_E4M3},
                                                               {TK_F32, TK_F8_E5M2},
                                                               {TK_F8_E4M3, TK_F8_E4M3},
                                                               {TK_F8_E5M2, TK_F8_E4M3}},
                                   TKI_ATTRIBUTES(TKI_OVERFLOW_ATTRIBUTE(TKI_OVERFLOW_NAN)),
                                   .dim_count = 1,
                                   .dim_names = (const char *const[]){"n"},
                                   .param_count = 2,
                                   .params = (const tk_param[]){INPUT("x"), OUTPUT("y")},
                                   .elementwise = true,
                                   CLAUSES};

static const tk_contract products = {.name = "products",
                                     TKI_TYPES_SUM,
                                     .dim_count = 1,
                                     .dim_names = (const char *const[]){"n"},
                                     .param_count = 3,
                                     .params = (const tk_param[]){INPUT("x"), INPUT("w"), OUTPUT("y")},
                                     .elementwise = true,
                                     CLAUSES};

/* The exact result: a double holds every product of two fp32 numbers, which has 48 bits. */
static double exact_at(const tk_case *c, const void *const *b, int64_t i)
{
    const double x = tki_decode(c->dtype, tki_element_bits(c->dtype, b[0], i));
    return c->contract == &copies ? x : x * tki_decode(c->dtype, tki_element_bits(c->dtype, b[1], i));
}

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    (void)c;
    (void)output;
    *rows = 1;
    *cols = 4096;
}

static tk_status enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    for (int64_t i = box->col_begin; i < box->col_end; i++, out++) {
        const double s = exact_at(job->c, job->buffers, i);
        *out = (tki_enclosure){.lo = s, .hi = s, .admits = TKI_ADMIT_INTERVAL, .clause = ERR};
        if (!isfinite(s))
            *out = (tki_enclosure){.admits = isnan(s) ? TKI_ADMIT_NAN
                                             : s > 0  ? TKI_ADMIT_PLUS_INF
                                                      : TKI_ADMIT_MINUS_INF,
                                   .clause = NANS};
    }
    return TK_OK;
}

static tk_status refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo, mpfr_ptr hi)
{
    (void)row;
    (void)precision;
    mpfr_set_d(lo, exact_at(job->c, job->buffers, col), MPFR_RNDN);
    mpfr_set(hi, lo, MPFR_RNDN);
    return TK_OK;
}

static const tki_oracle oracle = {.box_size = box_size, .enclose = enclose, .refine = refine};

typedef enum mistake {
    NONE,
    TRUNCATED,        /* the store rounds toward zero */
    AWAY_FROM_ZERO,   /* the store rounds ties away from zero rather than to even */
    FLUSHED,          /* subnormal results become zero */
    INPUTS_FLUSHED,   /* subnormal inputs are taken for zero */
    NAN_MASKED,       /* NaN becomes zero */
    SATURATED,        /* infinities become the largest number */
    LAST_ELEMENT,     /* is that before it */
    TAIL_UNWRITTEN,   /* what is left after the last multiple of 8 */
    LOWER_HALF_LOST,  /* the result goes through bf16 */
    THROUGH_F16,      /* the result goes through fp16 */
    LAST_BIT,         /* is never set */
    ONE_EXPONENT,     /* one ulp too large where the exponent of x is 5 */
    LARGE_INPUTS,     /* zero for |x| > 2^100 */
    NEGATIVE_PAYLOADS /* infinity for a negative NaN */
} mistake;

static uint32_t rounded(const tk_case *c, tk_dtype dtype, double exact, mistake m)
{
    const tki_format f = tki_format_of(dtype);
    uint32_t bits = tki_round_double(dtype, exact);
    const bool too_large = !isnan(exact) && !tki_is_finite(dtype, bits);
    const bool asked_for = tki_choice_of_role(c->contract, c->attributes, TK_ROLE_OVERFLOW) == TKI_OVERFLOW_SATURATE;
    if (too_large && asked_for != (m == SATURATED))
        bits--;
    const double value = tki_decode(dtype, bits);
    if (m == TRUNCATED && fabs(value) > fabs(exact))
        bits--;
    if (m == AWAY_FROM_ZERO && isfinite(value) && fabs(exact) - fabs(value) == tki_ulp(dtype, exact) / 2)
        bits++;
    if (m == FLUSHED && (bits & ~f.sign) < UINT32_C(1) << (f.precision - 1))
        bits &= f.sign;
    if (m == NAN_MASKED && isnan(exact))
        bits = 0;
    if (m == LOWER_HALF_LOST && !isnan(exact))
        bits = tki_round_double(dtype, tki_decode(TK_BF16, tki_round_double(TK_BF16, exact)));
    if (m == THROUGH_F16 && !isnan(exact))
        bits = tki_round_double(dtype, tki_decode(TK_F16, tki_round_double(TK_F16, exact)));
    if (m == LAST_BIT && isfinite(value))
        bits &= ~UINT32_C(1);
    return bits;
}

static double flushed(tk_dtype dtype, double value, mistake m)
{
    return m == INPUTS_FLUSHED && fabs(value) < ldexp(1, tki_format_of(dtype).exponent_min) ? 0 * value : value;
}

static int kernel(const tk_case *c, void *const b[], void *data)
{
    const mistake m = *(const mistake *)data;
    const bool one = c->contract == &copies;
    const int out = one ? 1 : 2;
    const int64_t n = c->dims[0];
    const tk_dtype to = tk_case_param_dtype(c, out);
    for (int64_t i = 0; i < n - (m == TAIL_UNWRITTEN ? n % 8 : 0); i++) {
        const int64_t from = m == LAST_ELEMENT && i == n - 1 && n > 1 ? i - 1 : i;
        const uint32_t bits = tki_element_bits(c->dtype, b[0], from);
        const double x = flushed(c->dtype, tki_decode(c->dtype, bits), m);
        const double w = one ? 1 : flushed(c->dtype, tki_decode(c->dtype, tki_element_bits(c->dtype, b[1], from)), m);
        uint32_t result = rounded(c, to, x * w, m);
        if (m == ONE_EXPONENT && isfinite(x * w) && x != 0 && ilogb(x) == 5)
            result++;
        if (m == LARGE_INPUTS && fabs(x) > 0x1p100)
            result = 0;
        if (m == NEGATIVE_PAYLOADS && isnan(x) && (bits & tki_format_of(c->dtype).sign))
            result = tki_format_of(to).infinity;
        tki_put_bits(to, b[out], i, result);
    }
    return 0;
}

typedef struct fixture {
    tk_ctx *ctx;
    tki_subject subject;
    tki_runner runner;
    mistake mistake;
} fixture;

static void open_fixture(fixture *f, const tk_contract *contract, mistake m)
{
    *f = (fixture){.ctx = new_context(), .mistake = m};
    f->subject = (tki_subject){.ctx = f->ctx, .contract = contract, .oracle = &oracle, .caller = &f->runner.caller};
    const tki_runnable executable = {.kernel = kernel, .kernel_data = &f->mistake};
    assert_ok(f->ctx, tki_runner_open(f->ctx, &executable, &f->runner));
}

static void close_fixture(fixture *f)
{
    tki_runner_close(&f->runner);
    tk_ctx_destroy(f->ctx);
}

static tki_trials make_trials(tk_ctx *ctx, const tk_contract *contract, tk_types types, tk_level level)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    tki_trials trials;
    options.level = level;
    options.result_dtype = &types.result_dtype;
    assert_ok(ctx, tki_trials_make(ctx, contract, types.dtype, TK_I32, &options, &trials));
    return trials;
}

/* The clause that a trial of the quick level broke, and the trial in `reason`; -1: all held. */
static int judge_with(const tk_contract *contract, tk_types types, int overflow, mistake m, char *reason, size_t size)
{
    static const tk_certify_options options = TK_CERTIFY_DEFAULTS;
    fixture f;
    open_fixture(&f, contract, m);
    tki_trials trials = make_trials(f.ctx, contract, types, TK_QUICK);
    int failed = -1;
    for (int64_t i = 0; i < trials.count && failed < 0; i++) {
        tki_inputs inputs;
        tki_trial_result result;
        tki_set_role(contract, trials.list[i].c.attributes, TK_ROLE_OVERFLOW, overflow);
        assert_ok(f.ctx, tki_inputs_make(f.ctx, &trials.list[i], &options, &inputs));
        assert_ok(f.ctx, tki_trial_run(&f.subject, &trials.list[i], &inputs, &result));
        assert_false(result.could_not_run);
        failed = result.failed_clause;
        char found[512];
        tki_trial_reason(&result, &trials.list[i].c, found, sizeof found);
        snprintf(reason, size, "%s, n=%lld: %s", tki_trial_family_name(&trials.list[i]),
                 (long long)trials.list[i].c.dims[0], found);
        tki_inputs_free(&inputs);
    }
    free(trials.list);
    close_fixture(&f);
    return failed;
}

static int judge(const tk_contract *contract, tk_types types, mistake m, char *reason, size_t size)
{
    return judge_with(contract, types, TKI_OVERFLOW_NAN, m, reason, size);
}

static const tk_types all_types[] = {
    {TK_F32, TK_F32}, {TK_F16, TK_F32}, {TK_BF16, TK_F32}, {TK_F16, TK_F16}, {TK_BF16, TK_BF16}};
enum { TYPES = sizeof all_types / sizeof *all_types };

TEST(right_kernels_hold)
{
    for (int i = 0; i < TYPES; i++) {
        char reason[700];
        if (judge(&copies, all_types[i], NONE, reason, sizeof reason) >= 0 ||
            judge(&products, all_types[i], NONE, reason, sizeof reason) >= 0)
            fail_msg("types %d: %s", i, reason);
    }
}

static void refute(const tk_contract *contract, tk_types types, const mistake *list, int count)
{
    for (int i = 0; i < count; i++) {
        char reason[700], name[16];
        tk_types_name(types, name, sizeof name);
        if (judge(contract, types, list[i], reason, sizeof reason) < 0)
            fail_msg("%s: mistake %d of %s was not found", name, (int)list[i], contract->name);
    }
}

TEST(wrong_products_are_refuted_in_fp32)
{
    static const mistake list[] = {TRUNCATED,    AWAY_FROM_ZERO, FLUSHED,      INPUTS_FLUSHED,   NAN_MASKED,
                                   SATURATED,    LAST_ELEMENT,   THROUGH_F16,  LAST_BIT,         LOWER_HALF_LOST,
                                   LARGE_INPUTS, TAIL_UNWRITTEN, ONE_EXPONENT, NEGATIVE_PAYLOADS};
    refute(&products, all_types[0], list, sizeof list / sizeof *list);
}

TEST(wrong_copies_are_refuted_in_fp32)
{
    static const mistake list[] = {FLUSHED,  NAN_MASKED,      SATURATED,    LAST_ELEMENT,   THROUGH_F16,
                                   LAST_BIT, LOWER_HALF_LOST, LARGE_INPUTS, TAIL_UNWRITTEN, ONE_EXPONENT};
    refute(&copies, all_types[0], list, sizeof list / sizeof *list);
}

/* Products of fp16 numbers are exact in fp32, of 22 bits, and never subnormal there; those of bf16 numbers can be. */
TEST(wrong_mixed_products_are_refuted)
{
    static const mistake of_both[] = {NAN_MASKED,     LAST_ELEMENT, LOWER_HALF_LOST, INPUTS_FLUSHED,
                                      TAIL_UNWRITTEN, SATURATED,    THROUGH_F16};
    static const mistake of_bf16[] = {FLUSHED, TRUNCATED, LARGE_INPUTS};
    refute(&products, all_types[1], of_both, sizeof of_both / sizeof *of_both);
    refute(&products, all_types[2], of_both, sizeof of_both / sizeof *of_both);
    refute(&products, all_types[2], of_bf16, sizeof of_bf16 / sizeof *of_bf16);
}

/* Casts to 8 bits with both ways to overflow: the right one holds, the other way and wrong roundings do not. Every input in 8 bits is right
 * as it is where the result has its type. */
TEST(casts_to_8_bits_overflow_as_asked_for)
{
    static const mistake wrong[] = {SATURATED, TRUNCATED, AWAY_FROM_ZERO, FLUSHED, NAN_MASKED, LAST_BIT, THROUGH_F16};
    static const tk_types casts[] = {{TK_F32, TK_F8_E4M3}, {TK_F32, TK_F8_E5M2}, {TK_F8_E5M2, TK_F8_E4M3}};
    char reason[700];
    for (int i = 0; i < 3; i++)
        for (int overflow = TKI_OVERFLOW_NAN; overflow <= TKI_OVERFLOW_SATURATE; overflow++) {
            if (judge_with(&copies, casts[i], overflow, NONE, reason, sizeof reason) >= 0)
                fail_msg("types %d, overflow %d: %s", i, overflow, reason);
            /* What 8 bits hold is exact in fp16. */
            const int count = (int)(sizeof wrong / sizeof *wrong) - (i == 2);
            for (int k = 0; k < count; k++)
                if (judge_with(&copies, casts[i], overflow, wrong[k], reason, sizeof reason) < 0)
                    fail_msg("types %d, overflow %d: mistake %d was not found", i, overflow, (int)wrong[k]);
        }
    assert_int_equal(judge(&copies, (tk_types){TK_F8_E4M3, TK_F8_E4M3}, NONE, reason, sizeof reason), -1);
    assert_int_equal(judge(&copies, (tk_types){TK_F8_E4M3, TK_F8_E4M3}, LAST_BIT, reason, sizeof reason), ERR);
}

/* One input of 32 bits in chunks: each pattern is in one of them, once. */
TEST_WITH_CONTEXT(all_patterns_of_fp32_are_tried)
{
    const tk_types types = {TK_F32, TK_F32};
    tki_trials quick = make_trials(ctx, &copies, types, TK_FULL);
    tki_trials all = make_trials(ctx, &copies, types, TK_EXHAUSTIVE);
    int64_t patterns = 0, next = 0;
    for (int64_t i = quick.count; i < all.count; i++) {
        const tki_trial *trial = &all.list[i];
        assert_int_equal(trial->family, TKI_ALL_PATTERNS);
        assert_int_equal(trial->chunk, i - quick.count);
        patterns += trial->c.dims[0];
        if (trial->chunk % 1500 && trial->chunk != (1 << 14) - 1)
            continue;
        uint32_t *x = malloc((size_t)trial->c.dims[0] * sizeof *x);
        tki_trial_fill(trial, (void *[TK_MAX_PARAMS]){x});
        next = trial->chunk * trial->c.dims[0];
        for (int64_t k = 0; k < trial->c.dims[0]; k++)
            assert_int_equal(x[k], next++);
        free(x);
    }
    assert_int_equal(patterns, INT64_C(1) << 32);
    assert_int_equal(next, INT64_C(1) << 32);
    free(quick.list);
    free(all.list);
}

TEST_WITH_CONTEXT(what_is_finite_depends_on_the_types)
{
    static const struct {
        const tk_contract *contract;
        tk_types types;
        bool finite;
    } rows[] = {{&copies, {TK_F16, TK_F16}, true},   {&copies, {TK_F32, TK_F32}, true},
                {&copies, {TK_F16, TK_F32}, true},   {&copies, {TK_F8_E4M3, TK_F8_E4M3}, true},
                {&products, {TK_F16, TK_F16}, true}, {&products, {TK_BF16, TK_F32}, true},
                {&products, {TK_F32, TK_F32}, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tk_case c = tk_case_init(rows[i].contract, rows[i].types.dtype);
        c.result_dtype = rows[i].types.result_dtype;
        assert_int_equal(tk_case_is_finite(&c), rows[i].finite);
        tki_trials trials = make_trials(ctx, rows[i].contract, rows[i].types, TK_EXHAUSTIVE);
        assert_int_equal(trials.list[trials.count - 1].family == TKI_ALL_PATTERNS, rows[i].finite);
        assert_int_equal(trials.list[0].c.result_dtype, rows[i].types.result_dtype);
        free(trials.list);
    }
    const tk_case gemm = tk_case_init(tk_contract_find("gemm"), TK_F16);
    assert_false(tk_case_is_finite(&gemm));
}

/* A chunk of the exhaustive trials is judged like any other: the one that begins with the smallest normal number. */
TEST(a_chunk_of_patterns_is_judged)
{
    static const struct {
        mistake mistake;
        int64_t chunk;
        int clause;
    } rows[] = {{NONE, 0, -1},           {FLUSHED, 0, ERR}, {NONE, 0x1ff0, -1}, {NAN_MASKED, 0x1ff0, NANS},
                {LAST_BIT, 0x1000, ERR}, {NONE, 0x3fff, -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        open_fixture(&f, &copies, rows[i].mistake);
        tki_trials all = make_trials(f.ctx, &copies, all_types[0], TK_EXHAUSTIVE);
        const tki_trial *trial = &all.list[all.count - (1 << 14) + rows[i].chunk];
        const tk_certify_options options = TK_CERTIFY_DEFAULTS;
        tki_inputs inputs;
        tki_trial_result result;
        assert_ok(f.ctx, tki_inputs_make(f.ctx, trial, &options, &inputs));
        assert_ok(f.ctx, tki_trial_run(&f.subject, trial, &inputs, &result));
        if (result.failed_clause != rows[i].clause)
            fail_msg("row %zu: clause %d, finding %d", i, result.failed_clause, result.finding.kind);
        assert_int_equal(result.judgement.elements, trial->c.dims[0]);
        tki_inputs_free(&inputs);
        free(all.list);
        close_fixture(&f);
    }
}

/* To one element, whose inputs are then of 32 bits. */
TEST(a_failure_in_fp32_is_shrunk)
{
    fixture f;
    open_fixture(&f, &products, ONE_EXPONENT);
    tki_trial trial = {.c = tk_case_init(&products, TK_F32), .family = TKI_GIVEN_INPUTS};
    tki_inputs inputs;
    tki_trial_result result;
    trial.c.dims[0] = 1000;
    assert_ok(f.ctx, tki_inputs_alloc(f.ctx, &trial.c, &inputs));
    for (int64_t i = 0; i < 1000; i++) {
        ((float *)inputs.data[0])[i] = i == 637 ? 33.3f : 1;
        ((float *)inputs.data[1])[i] = 0x1.234568p-3f;
    }
    assert_ok(f.ctx, tki_trial_run(&f.subject, &trial, &inputs, &result));
    assert_int_equal(result.failed_clause, ERR);
    assert_ok(f.ctx, tki_shrink(&f.subject, &trial, &inputs, &result));
    assert_int_equal(trial.c.dims[0], 1);
    assert_int_equal(result.failed_clause, ERR);
    assert_true(((float *)inputs.data[0])[0] >= 32 && ((float *)inputs.data[0])[0] < 64);
    tki_inputs_free(&inputs);
    close_fixture(&f);
}

TEST_WITH_CONTEXT(given_inputs_have_the_bits_of_their_type)
{
    const uint64_t x[] = {0x3f800001}, w[] = {0xffffffff}, wide[] = {UINT64_C(1) << 32};
    const tk_given_input good[] = {{.name = "x", .bits = x, .count = 1}, {.name = "w", .bits = w, .count = 1}};
    const tk_given_input bad[] = {{.name = "x", .bits = x, .count = 1}, {.name = "w", .bits = wide, .count = 1}};
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    tki_trial trial = {.c = tk_case_init(&products, TK_F32), .family = TKI_GIVEN_INPUTS};
    tki_inputs inputs;
    trial.c.dims[0] = 1;
    options.inputs = good;
    options.input_count = 2;
    assert_ok(ctx, tki_inputs_make(ctx, &trial, &options, &inputs));
    assert_int_equal(*(uint32_t *)inputs.data[0], 0x3f800001);
    assert_int_equal(*(uint32_t *)inputs.data[1], 0xffffffff);
    tki_inputs_free(&inputs);
    options.inputs = bad;
    assert_refused(ctx, tki_inputs_make(ctx, &trial, &options, &inputs), TK_BAD_ARGUMENT, "32-bit");
    trial.c.dtype = TK_F16;
    options.inputs = good;
    assert_refused(ctx, tki_inputs_make(ctx, &trial, &options, &inputs), TK_BAD_ARGUMENT, "16-bit");
}

/* Planted patterns of 32 bits arrive, and those that the type does not have are left out. */
TEST(patterns_of_32_bits_are_planted)
{
    uint32_t x[64] = {0};
    uint16_t half[64] = {0};
    tki_trial trial = {.c = tk_case_init(&copies, TK_F32), .planted_count = 1, .planted = {0x7fc12345}};
    trial.c.dims[0] = 64;
    tki_trial_fill(&trial, (void *[TK_MAX_PARAMS]){x});
    assert_int_equal(x[0], 0x7fc12345);
    assert_int_equal(x[63], 0x7fc12345);
    trial.c.dtype = trial.c.result_dtype = TK_F16;
    tki_trial_fill(&trial, (void *[TK_MAX_PARAMS]){half});
    for (int i = 0; i < 64; i++)
        assert_int_not_equal(half[i], 0x2345);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels_hold),
        cmocka_unit_test(wrong_products_are_refuted_in_fp32),
        cmocka_unit_test(wrong_copies_are_refuted_in_fp32),
        cmocka_unit_test(wrong_mixed_products_are_refuted),
        cmocka_unit_test(casts_to_8_bits_overflow_as_asked_for),
        cmocka_unit_test(all_patterns_of_fp32_are_tried),
        cmocka_unit_test(what_is_finite_depends_on_the_types),
        cmocka_unit_test(a_chunk_of_patterns_is_judged),
        cmocka_unit_test(a_failure_in_fp32_is_shrunk),
        cmocka_unit_test(given_inputs_have_the_bits_of_their_type),
        cmocka_unit_test(patterns_of_32_bits_are_planted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
