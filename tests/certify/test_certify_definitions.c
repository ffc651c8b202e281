/* Kernels of an op that is a definition are certified as those of any other: right ones are held, wrong ones refuted. */
#include <math.h>
#include <string.h>

#include "certify/claims.h"
#include "certify/consistency.h"
#include "certify/replay_recipe.h"
#include "core/hash.h"
#include "tests/certificate_test.h"

static const char layernorm[] =
    "op norm(x[rows, cols], w[cols], b[cols]; eps: real in [1e-12, 1] = 1e-5) -> y[rows, cols]\n"
    "    y = standardize[cols](x, eps) * w + b\n";

typedef enum way { WELFORD, TWO_PASSES, ONE_PASS, ONE_LESS, EPS_OUTSIDE } way;

static float variance(const float *x, int64_t n, way how, float *mean)
{
    float m = 0, s = 0;
    if (how == WELFORD) {
        for (int64_t i = 0; i < n; i++) {
            const float d = x[i] - m;
            m += d / (float)(i + 1);
            s += d * (x[i] - m);
        }
    } else if (how == ONE_PASS) {
        for (int64_t i = 0; i < n; i++) {
            m += x[i];
            s += x[i] * x[i];
        }
        m /= (float)n;
        s -= (float)n * m * m;
    } else {
        for (int64_t i = 0; i < n; i++)
            m += x[i];
        m /= (float)n;
        for (int64_t i = 0; i < n; i++)
            s += (x[i] - m) * (x[i] - m);
    }
    *mean = m;
    return s / (float)(how == ONE_LESS && n > 1 ? n - 1 : n);
}

static int run(const tk_case *c, void *const buffers[], void *user_data)
{
    const way how = *(const way *)user_data;
    const int64_t cols = c->dims[1];
    const float *w = buffers[1], *b = buffers[2], eps = (float)c->attributes[0].real;
    for (int64_t row = 0; row < c->dims[0]; row++) {
        const float *x = (const float *)buffers[0] + row * cols;
        float *y = (float *)buffers[3] + row * cols, mean;
        const float v = variance(x, cols, how, &mean);
        const float scale = how == EPS_OUTSIDE ? 1 / (sqrtf(v) + eps) : 1 / sqrtf(v + eps);
        for (int64_t i = 0; i < cols; i++)
            y[i] = (x[i] - mean) * scale * w[i] + b[i];
    }
    return 0;
}

static void certify(way how, tk_verdict expected)
{
    tk_ctx *ctx;
    const tk_contract *op;
    tk_certificate *certificate;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    if (tk_op_define(ctx, layernorm, sizeof layernorm - 1, NULL, &op) != TK_OK)
        fail_msg("%s", tk_ctx_message(ctx));
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = run;
    options.kernel_data = &how;
    options.kernel_name = "norm";
    if (tk_certify(ctx, op, TK_F32, TK_I32, &options, &certificate) != TK_OK)
        fail_msg("%s", tk_ctx_message(ctx));
    if (tk_certificate_verdict(certificate) != expected)
        fail_msg("way %d: %s: %s", (int)how, tk_certificate_headline(certificate),
                 tk_certificate_reason(certificate));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

static const char convolution[] = "op skips(x[t], k[r]) -> y[t]\n    y[t] = sum[r](x[t + r - 1 else 0] * k[r])\n";

/* Leaves out what is out of range, or what is in range, too. */
typedef enum padding { LEFT_OUT, ENDS_LEFT_OUT } padding;

static int convolve(const tk_case *c, void *const buffers[], void *user_data)
{
    const padding how = *(const padding *)user_data;
    const float *x = buffers[0], *k = buffers[1];
    float *y = buffers[2];
    for (int64_t t = 0; t < c->dims[0]; t++) {
        y[t] = 0;
        for (int64_t r = 0; r < c->dims[1]; r++) {
            const int64_t at = t + r - 1, end = c->dims[0] - (how == ENDS_LEFT_OUT);
            if (at >= 0 && at < end)
                y[t] += x[at] * k[r];
        }
    }
    return 0;
}

static tk_verdict verdict_of_padding(padding how)
{
    tk_ctx *ctx;
    const tk_contract *op;
    tk_certificate *certificate;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    assert_ok(ctx, tk_op_define(ctx, convolution, sizeof convolution - 1, NULL, &op));
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = convolve;
    options.kernel_data = &how;
    options.kernel_name = "skips";
    assert_ok(ctx, tk_certify(ctx, op, TK_F32, TK_I32, &options, &certificate));
    const tk_verdict verdict = tk_certificate_verdict(certificate);
    if (verdict != TK_HELD)
        print_message("padding %d: %s\n", (int)how, tk_certificate_reason(certificate));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
    return verdict;
}

/* Also where the other factor is infinite or NaN. */
TEST(padding_may_be_left_out)
{
    assert_int_equal(verdict_of_padding(LEFT_OUT), TK_HELD);
    assert_int_equal(verdict_of_padding(ENDS_LEFT_OUT), TK_REFUTED);
}

TEST(right_kernels)
{
    certify(TWO_PASSES, TK_HELD);
    certify(WELFORD, TK_HELD);
}

TEST(wrong_kernels)
{
    certify(ONE_PASS, TK_REFUTED);
    certify(ONE_LESS, TK_REFUTED);
    certify(EPS_OUTSIDE, TK_REFUTED);
}

/* One trial of two rows. */
static tk_certificate *certify_small(tk_ctx *ctx, const char *eps)
{
    static const way two_passes = TWO_PASSES;
    const tk_contract *op;
    assert_ok(ctx, tk_op_define(ctx, layernorm, sizeof layernorm - 1, NULL, &op));
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = run;
    options.kernel_data = (void *)(uintptr_t)&two_passes;
    options.kernel_name = "norm";
    options.settings = (tk_setting[]){{"eps", eps}};
    options.setting_count = 1;
    options.dims = (int64_t[]){2, 5};
    options.family = "normal";
    return certify_one(ctx, op, TK_F32, TK_I32, options);
}

static tk_certificate *parse(tk_ctx *ctx, const char *text)
{
    tk_certificate *certificate;
    assert_ok(ctx, tk_certificate_parse(ctx, text, strlen(text), &certificate));
    return certificate;
}

static int run_noise(const tk_case *c, void *const buffers[], void *user_data)
{
    const float *x = buffers[0];
    float *y = buffers[1];
    (void)user_data;
    for (int64_t i = 0; i < c->dims[0]; i++)
        y[i] = 1 / (x[i] + 1e9F - 1e9F);
    return 0;
}

/* Where nothing is known, the verdict says of which element, in which trial, and by which value of which line; so does whoever reads it. */
TEST_WITH_CONTEXT(what_has_no_bound_is_named)
{
    static const char text[] = "# a comment\nop noise(x[n]) -> y[n]\n\n    t = (x + 1e9) - 1e9\n    y = 1 / t\n";
    const tk_contract *op;
    tk_ctx *other;
    assert_ok(ctx, tk_op_define(ctx, text, sizeof text - 1, NULL, &op));
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = run_noise;
    options.kernel_name = "noise";
    options.dims = (int64_t[]){5};
    options.family = "normal";
    tk_certificate *made = certify_one(ctx, op, TK_F32, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(made), TK_UNKNOWN);
    assert_string_equal(
        tk_certificate_reason(made),
        "the contract has no bound for 5 of the judged elements; the first is y[0] of family normal at "
        "n=5, where nothing is known of / in the line of y");
    assert_int_equal(tk_ctx_create(&other), TK_OK);
    tk_certificate *read = parse(other, tk_certificate_json(made));
    assert_true(tki_certificate_has_sentences(other, read));
    assert_string_equal(tk_certificate_reason(read), tk_certificate_reason(made));
    tk_certificate_destroy(read);
    tk_ctx_destroy(other);
    tk_certificate_destroy(made);
}

/* A product of matrices whose factors a unit cuts to TF32; sums in fp32. */
static int run_cut(const tk_case *c, void *const buffers[], void *user_data)
{
    const int64_t rows = c->dims[0], places = c->dims[1], cols = c->dims[2];
    (void)user_data;
    for (int64_t i = 0; i < rows * cols; i++) {
        float sum = 0;
        for (int64_t k = 0; k < places; k++) {
            uint32_t a, b;
            float left, right;
            memcpy(&a, (const float *)buffers[0] + i / cols * places + k, sizeof a);
            memcpy(&b, (const float *)buffers[1] + k * cols + i % cols, sizeof b);
            a &= isnan(((const float *)buffers[0])[i / cols * places + k]) ? UINT32_MAX : UINT32_C(0xffffe000);
            b &= isnan(((const float *)buffers[1])[k * cols + i % cols]) ? UINT32_MAX : UINT32_C(0xffffe000);
            memcpy(&left, &a, sizeof left);
            memcpy(&right, &b, sizeof right);
            sum += left * right;
        }
        ((float *)buffers[2])[i] = sum;
    }
    return 0;
}

/* What cuts its factors is refuted, and right by the numerics that say so. */
TEST_WITH_CONTEXT(numerics_are_asked_for)
{
    static const char text[] = "op product(a[m, k], b[k, n]) -> y[m, n]\n"
                               "    y[m, n] = sum[k](a[m, k] * b[k, n])\n";
    const tk_contract *op;
    tk_ctx *other;
    assert_ok(ctx, tk_op_define(ctx, text, sizeof text - 1, NULL, &op));
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = run_cut;
    options.kernel_name = "cut";
    tk_certificate *made = certify_one(ctx, op, TK_F32, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(made), TK_REFUTED);
    tk_certificate_destroy(made);
    options.settings = (tk_setting[]){{"numerics", "tf32"}};
    options.setting_count = 1;
    made = certify_one(ctx, op, TK_F32, TK_I32, options);
    if (tk_certificate_verdict(made) != TK_HELD)
        fail_msg("%s", tk_certificate_reason(made));
    assert_string_equal(tk_certificate_headline(made), "HELD under tf32 numerics");
    assert_non_null(
        strstr(tk_certificate_markdown(made), "numerics tf32: matrix units, or fp32 accumulation, of factors"));
    assert_int_equal(tk_ctx_create(&other), TK_OK);
    tk_certificate *read = parse(other, tk_certificate_json(made));
    assert_true(tki_certificate_has_sentences(other, read));
    tk_certificate_destroy(read);
    tk_ctx_destroy(other);
    tk_certificate_destroy(made);
}

/* Nothing but the certificate says what the op is: its reason and sentences are compared with those made again. */
TEST_WITH_CONTEXT(a_certificate_needs_nothing_else)
{
    tk_ctx *other;
    char *remarks;
    const tk_contract *op;
    static const char same_name[] = "op norm(x[n]) -> y[n]\n    y = 2 * x\n";
    tk_certificate *made = certify_small(ctx, "1e-5");
    assert_string_equal(tki_certificate_text(made, "contract.definition"), layernorm);
    assert_int_equal(tk_ctx_create(&other), TK_OK);
    tk_certificate *read = parse(other, tk_certificate_json(made));
    assert_true(tki_certificate_has_sentences(other, read));
    assert_ok(other, tk_certificate_remarks(other, read, &remarks));
    assert_null(remarks);
    assert_null(tk_ctx_contract_find(other, "norm"));
    /* The name is free: another op may have it, and the certificate is still about its own. */
    assert_ok(other, tk_op_define(other, same_name, sizeof same_name - 1, NULL, &op));
    tk_certificate *again = parse(other, tk_certificate_json(made));
    assert_ptr_equal(tk_ctx_contract_find(other, "norm"), op);
    assert_ptr_not_equal(tki_certificate_contract(other, again), op);
    assert_true(tki_certificate_has_sentences(other, again));
    tk_certificate_destroy(again);
    tk_certificate_destroy(read);
    tk_ctx_destroy(other);
    /* Or the text is defined, and then it is one op. */
    assert_int_equal(tk_ctx_create(&other), TK_OK);
    read = parse(other, tk_certificate_json(made));
    assert_ok(other, tk_op_define(other, layernorm, sizeof layernorm - 1, NULL, &op));
    assert_ptr_equal(tki_certificate_contract(other, read), op);
    assert_ptr_equal(tk_ctx_contract_find(other, "norm"), op);
    tk_certificate_destroy(read);
    tk_ctx_destroy(other);
    tk_certificate_destroy(made);
}

/* An attribute of a definition is a double, and no fp32 number; it is read as it was written. */
TEST_WITH_CONTEXT(attributes_are_read_as_doubles)
{
    static const char *const values[] = {"1e-12", "0.1",
                                         "1"}; /* the first is the end of the range; a float would be below it */
    for (int i = 0; i < 3; i++) {
        tk_ctx *other;
        tk_certificate *made = certify_small(ctx, values[i]);
        assert_int_equal(tk_ctx_create(&other), TK_OK);
        tk_certificate *read = parse(other, tk_certificate_json(made));
        tki_recipe recipe;
        assert_ok(other, tki_recipe_read(other, read, &recipe));
        assert_true(recipe.options.setting_count == 1 &&
                    strtod(recipe.settings[0].value, NULL) == strtod(values[i], NULL));
        tki_recipe_free(&recipe);
        tk_certificate_destroy(read);
        tk_certificate_destroy(made);
        tk_ctx_destroy(other);
    }
}

TEST_WITH_CONTEXT(without_an_index_its_type_changes_no_trial)
{
    const tk_contract *op;
    char *texts[2];
    static const way two_passes = TWO_PASSES;
    assert_ok(ctx, tk_op_define(ctx, layernorm, sizeof layernorm - 1, NULL, &op));
    for (int i = 0; i < 2; i++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.kernel = run;
        options.kernel_data = (void *)(uintptr_t)&two_passes;
        options.kernel_name = "norm";
        tk_certificate *made = certify_one(ctx, op, TK_F32, i ? TK_I64 : TK_I32, options);
        texts[i] = json_dumps(tki_certificate_get(made, "run.trials"), JSON_SORT_KEYS);
        tk_certificate_destroy(made);
    }
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

static void put_definition(json_t *predicate, const char *text)
{
    char hash[65];
    json_t *contract = json_object_get(predicate, "contract");
    assert_true(tki_hash_bytes(text, strlen(text), hash));
    json_object_set_new(contract, "definition", json_string(text));
    json_object_set_new(contract, "definition_sha256", json_string(hash));
}

static void other_op(json_t *predicate)
{
    put_definition(predicate,
                   "op norm(x[rows, cols], w[cols], b[cols]; eps: real in [1e-12, 1] = 1e-5) -> y[rows, cols]\n"
                   "    y = standardize[cols](x, eps) * w - b\n");
}

static void not_normal(json_t *predicate)
{
    put_definition(predicate,
                   "op norm(x[rows, cols], w[cols], b[cols]; eps: real in [1e-12, 1] = 1e-5) -> y[rows, cols]\n"
                   "    y = standardize[cols](x, eps)*w + b\n");
}

static void other_name(json_t *predicate)
{
    put_definition(predicate, "op other(x[n]) -> y[n]\n    y = x\n");
}

static void no_definition(json_t *predicate)
{
    put_definition(predicate, "norm is what I say\n");
}

static void none(json_t *predicate)
{
    json_object_del(json_object_get(predicate, "contract"), "definition");
    json_object_del(json_object_get(predicate, "contract"), "definition_sha256");
}

static void of_ours(json_t *predicate)
{
    put_definition(predicate, "op gelu_fwd(x[n]) -> y[n]\n    y = x\n");
    set_member(predicate, "run.op", "\"gelu_fwd\"");
}

TEST_WITH_CONTEXT(definitions_of_certificates_are_checked)
{
    static const struct {
        edit by;
        const char *says;
        bool named; /* where the op is known by its name */
    } edits[] = {{.by = {.by = other_op}, .says = "its contract.formula is not that of norm"},
                 {.by = {.by = not_normal}, .says = "it is not the normal form of a definition of norm"},
                 {.by = {.by = other_name}, .says = "it is not the normal form of a definition of norm"},
                 {.by = {.by = no_definition}, .says = "its definition: line 1, column 1: expected"},
                 {.by = {.by = of_ours}, .says = "an op gelu_fwd exists already"},
                 {.by = {.by = none}, .says = "its contract.definition is not that of norm", .named = true},
                 {.by = {.at = "contract.definition_sha256",
                         .value = "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\""},
                  .says = "the SHA-256 of its definition is another one"}};
    tk_certificate *made = certify_small(ctx, "1e-5");
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        tk_ctx *other;
        tk_certificate *read;
        const tk_contract *op;
        json_t *statement = statement_of(made);
        apply(edits[i].by, predicate_of(statement));
        char *text = sealed(statement);
        assert_int_equal(tk_ctx_create(&other), TK_OK);
        if (edits[i].named)
            assert_ok(other, tk_op_define(other, layernorm, sizeof layernorm - 1, NULL, &op));
        assert_int_equal(tk_certificate_parse(other, text, strlen(text), &read), TK_BAD_FILE);
        if (!strstr(tk_ctx_message(other), edits[i].says))
            fail_msg("edit %zu: expected '%s', got '%s'", i, edits[i].says, tk_ctx_message(other));
        tk_ctx_destroy(other);
        free(text);
        json_decref(statement);
    }
    tk_certificate_destroy(made);
}

/* The text among the sentences on what is not shown that begins so; NULL: there is none. */
static const char *non_claim(const json_t *predicate, const tk_contract *op, const char *begins, json_t **list)
{
    *list = tki_non_claims_json(predicate, op);
    for (size_t i = 0; i < json_array_size(*list); i++)
        if (!strncmp(json_string_value(json_array_get(*list, i)), begins, strlen(begins)))
            return json_string_value(json_array_get(*list, i));
    return NULL;
}

TEST_WITH_CONTEXT(samples_are_named)
{
    static const char begins[] = "Of large outputs a sample was judged";
    tk_certificate *certificate = certify_small(ctx, "1e-5");
    const tk_contract *op = tk_ctx_contract_find(ctx, "norm");
    json_t *predicate = json_deep_copy(tki_certificate_get(certificate, "")), *list;
    json_t *trial = json_array_get(json_object_get(json_object_get(predicate, "run"), "trials"), 0);
    assert_int_equal(json_integer_value(json_object_get(trial, "elements")), 10);
    assert_null(non_claim(predicate, op, begins, &list));
    json_decref(list);
    json_object_set_new(trial, "elements", json_integer(6));
    const char *said = non_claim(predicate, op, begins, &list);
    assert_non_null(said);
    assert_non_null(strstr(said, "in 1 trial 6 of 10 elements"));
    json_decref(list);
    json_decref(predicate);
    tk_certificate_destroy(certificate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(padding_may_be_left_out),
                                       cmocka_unit_test(samples_are_named),
                                       cmocka_unit_test(right_kernels),
                                       cmocka_unit_test(wrong_kernels),
                                       cmocka_unit_test(what_has_no_bound_is_named),
                                       cmocka_unit_test(numerics_are_asked_for),
                                       cmocka_unit_test(a_certificate_needs_nothing_else),
                                       cmocka_unit_test(attributes_are_read_as_doubles),
                                       cmocka_unit_test(without_an_index_its_type_changes_no_trial),
                                       cmocka_unit_test(definitions_of_certificates_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
