/* Replay: a certificate's own trials run again and come out the same; what else this version tries must hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/certificate_test.h"
#include "tests/op_test.h"
#include "verify/certify.h"

/* Replays a copy of the certificate that `edit` has changed, and counts the trials that it does not list; the difference, or NULL;
 * free() it. */
static char *replay_counting(tk_ctx *ctx, tk_certificate *certificate, void (*edit)(json_t *predicate),
                             int64_t *not_listed)
{
    json_t *statement = statement_of(certificate);
    if (edit)
        edit(predicate_of(statement));
    tk_certificate *edited = parse_sealed(ctx, statement);
    json_decref(statement);
    bool same = false;
    char *difference = NULL;
    *not_listed = -1;
    assert_ok(ctx, tk_certificate_replay(ctx, edited, NULL, NULL, &same, not_listed, &difference));
    assert_int_equal(same, !difference);
    bool again = !same;
    assert_ok(ctx, tk_certificate_replay(ctx, edited, NULL, NULL, &again, NULL, NULL));
    assert_int_equal(again, same);
    tk_certificate_destroy(edited);
    return difference;
}

/* All that this version tries is listed, or the outcome is another or stops at a failure. */
static char *replay_edited(tk_ctx *ctx, tk_certificate *certificate, void (*edit)(json_t *predicate))
{
    int64_t not_listed;
    char *difference = replay_counting(ctx, certificate, edit, &not_listed);
    assert_int_equal(not_listed, 0);
    return difference;
}

static json_t *trials_of(json_t *predicate)
{
    return json_object_get(json_object_get(predicate, "run"), "trials");
}

static void edit_hash(json_t *predicate)
{
    json_t *trial = json_array_get(trials_of(predicate), 0);
    char *hash = strdup(json_string_value(json_object_get(trial, "output_sha256")));
    assert_non_null(hash);
    hash[5] = hash[5] == 'a' ? 'b' : 'a';
    json_object_set_new(trial, "output_sha256", json_string(hash));
    free(hash);
}

static void edit_verdict(json_t *predicate)
{
    json_object_set_new(predicate, "verdict", json_string("PROVED"));
}

static void edit_drop_trial(json_t *predicate)
{
    json_array_clear(trials_of(predicate));
}

/* A larger shape than was run, in the list only. */
static void edit_shape(json_t *predicate)
{
    json_object_set_new(json_array_get(trials_of(predicate), 0), "shape",
                        json_pack("{s:i, s:i, s:i}", "queries", 1000000, "dim", 1, "vocab", 2));
}

static void edit_family(json_t *predicate)
{
    json_object_set_new(json_array_get(trials_of(predicate), 0), "family", json_string("bits"));
}

static void edit_family_to_a_number(json_t *predicate)
{
    edit_hash(predicate);
    json_object_set_new(json_array_get(trials_of(predicate), 0), "family", json_integer(1));
}

static void replay_finds_what_was_edited(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tk_certificate *certificate = small_certificate(ctx);
    assert_null(replay_edited(ctx, certificate, NULL));
    static const struct {
        void (*edit)(json_t *);
        const char *difference;
    } edits[] = {{edit_hash, "trial 0"},  {edit_verdict, "verdict"}, {edit_drop_trial, "lists 0"},
                 {edit_shape, "trial 0"}, {edit_family, "trial 0"},  {edit_family_to_a_number, "trial 0"}};
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *difference = replay_edited(ctx, certificate, edits[i].edit);
        if (!difference || !strstr(difference, edits[i].difference))
            fail_msg("edit %zu: '%s' does not mention '%s'", i, difference ? difference : "(none)",
                     edits[i].difference);
        free(difference);
    }
    bool same;
    assert_int_equal(tk_certificate_replay(NULL, certificate, NULL, NULL, &same, NULL, NULL), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_certificate_replay(ctx, NULL, NULL, NULL, &same, NULL, NULL), TK_BAD_ARGUMENT,
                   "no certificate");
    assert_refused(ctx, tk_certificate_replay(ctx, certificate, NULL, NULL, NULL, NULL, NULL), TK_BAD_ARGUMENT,
                   "nowhere");
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

static void replay_of_what_is_not_here(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tk_certificate *certificate = small_certificate(ctx);
    static const struct {
        const char *member, *value;
        tk_status status;
    } edits[] = {
        {"op", "no_such_op", TK_UNAVAILABLE}, {"subject", "cpu.embedding_fwd.f16.no_such_variant", TK_UNAVAILABLE},
        {"level", "hasty", TK_BAD_FILE},      {"dtype", "f8", TK_BAD_FILE},
        {"kind", "function", TK_UNAVAILABLE}, {"kind", "mutant", TK_UNAVAILABLE}};
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(certificate);
        json_object_set_new(json_object_get(predicate_of(statement), "run"), edits[i].member,
                            json_string(edits[i].value));
        tk_certificate *edited = parse_sealed(ctx, statement);
        bool same = true;
        char *difference = (char *)(uintptr_t)1;
        assert_int_equal(tk_certificate_replay(ctx, edited, NULL, NULL, &same, NULL, &difference), edits[i].status);
        assert_string_not_equal(tk_ctx_message(ctx), "");
        assert_false(same);
        assert_null(difference);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

/* Other kinds of certificates: of a planted wrong kernel, and with inputs given bit by bit. */
static void replay_of_other_kinds(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    const char *what;
    assert_true(tk_mutant_at(tk_contract_find(quick_op), 0, &options.mutant, &what));
    tk_certificate *certificate = certify_one(ctx, tk_contract_find(quick_op), TK_BF16, TK_I64, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    assert_null(replay_edited(ctx, certificate, NULL));
    tk_certificate_destroy(certificate);

    options = TK_CERTIFY_DEFAULTS;
    options.dims = (int64_t[]){2, 2, 2};
    uint64_t weight[] = {0x3c00, 0xfc00, 0x7e01, 0x0001};
    uint64_t index[] = {1, 0};
    options.inputs = (tk_given_input[]){{"weight", weight, 4}, {"index", index, 2}};
    options.input_count = 2;
    certificate = certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_null(replay_edited(ctx, certificate, NULL));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

/* Drops trials from the list, and their elements from the sum, as if the version that wrote it had not made them. */
static void drop(json_t *predicate, size_t trial)
{
    json_t *trials = trials_of(predicate);
    json_t *result = json_object_get(predicate, "result");
    json_int_t elements = json_integer_value(json_object_get(json_array_get(trials, trial), "elements"));
    json_int_t all = json_integer_value(json_object_get(result, "elements"));
    json_object_set_new(result, "elements", json_integer(all - elements));
    assert_int_equal(json_array_remove(trials, trial), 0);
}

static void edit_drop_some(json_t *predicate)
{
    drop(predicate, json_array_size(trials_of(predicate)) - 1);
    drop(predicate, json_array_size(trials_of(predicate)) / 2);
    drop(predicate, 0);
}

static void edit_order(json_t *predicate)
{
    json_t *trials = trials_of(predicate);
    for (size_t i = 0; i < json_array_size(trials); i++) {
        json_t *last = json_incref(json_array_get(trials, json_array_size(trials) - 1));
        json_array_remove(trials, json_array_size(trials) - 1);
        json_array_insert_new(trials, i, last);
    }
}

static tk_certificate *quick_certificate(tk_ctx *ctx, const char *mutant)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.skip_mutants = true;
    options.mutant = mutant;
    return certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
}

/* What this version tries beyond the certificate's trials holds and is counted; in which order it tries does not matter. */
static void replay_of_an_older_version(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tk_certificate *certificate = quick_certificate(ctx, NULL);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    int64_t not_listed;
    assert_null(replay_counting(ctx, certificate, edit_drop_some, &not_listed));
    assert_int_equal(not_listed, 3);
    assert_null(replay_edited(ctx, certificate, edit_order));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

static void edit_drop_last(json_t *predicate)
{
    drop(predicate, json_array_size(trials_of(predicate)) - 1);
}

/* Shows late, so that there are trials before the one that refutes it. */
static void replay_of_a_refuted_one(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tk_certificate *certificate = quick_certificate(ctx, "narrow_index");
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    json_t *statement = statement_of(certificate);
    assert_true(json_array_size(trials_of(predicate_of(statement))) > 10);
    json_decref(statement);
    assert_null(replay_edited(ctx, certificate, NULL));
    /* The list of a kernel that crashed ends before the trial in which it did. */
    assert_null(replay_edited(ctx, certificate, edit_drop_last));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

static void edit_held(json_t *predicate)
{
    json_object_set_new(predicate, "verdict", json_string("HELD"));
}

static void edit_drop_last_held(json_t *predicate)
{
    edit_drop_last(predicate);
    edit_held(predicate);
}

static void edit_drop_family(json_t *predicate)
{
    assert_int_equal(json_object_del(json_object_get(predicate, "run"), "family"), 0);
}

static void assert_unlisted_refuted(tk_ctx *ctx, tk_certificate *certificate, void (*edit)(json_t *predicate),
                                    const char *which)
{
    char *difference = replay_edited(ctx, certificate, edit);
    static const char *const what = ", which the certificate does not list, is refuted: ";
    if (!difference || strncmp(difference, "trial {", 7) != 0 || !strstr(difference, what) ||
        !strstr(difference, which))
        fail_msg("'%s' does not say that a trial with %s is refuted", difference ? difference : "(none)", which);
    free(difference);
}

/* A list that leaves out what fails. */
static void replay_runs_what_was_left_out(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tk_certificate *certificate = quick_certificate(ctx, "narrow_index");
    assert_unlisted_refuted(ctx, certificate, edit_drop_last_held, "\"vocab\":");
    char *difference = replay_edited(ctx, certificate, edit_held);
    assert_non_null(difference);
    assert_non_null(strstr(difference, "the verdict is now REFUTED, it was HELD"));
    free(difference);
    tk_certificate_destroy(certificate);

    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.mutant = "nan_masked";
    options.dims = (int64_t[]){3, 40, 50};
    options.family = "normal";
    certificate = certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_null(replay_edited(ctx, certificate, NULL));
    assert_unlisted_refuted(ctx, certificate, edit_drop_family, "\"queries\":3");
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

/* An exhaustive certificate of only some of the trials, as a dishonest or an older version would write it. */
static tk_certificate *exhaustive_certificate(tk_ctx *ctx, const char *mutant, bool (*keep)(const tki_trial *trial))
{
    const tk_contract *contract = tk_contract_find("gelu_fwd");
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.level = TK_EXHAUSTIVE;
    options.skip_mutants = true;
    options.mutant = mutant;
    tki_trials trials;
    assert_ok(ctx, tki_certify_trials_make(ctx, contract, TK_F16, TK_I32, &options, &trials));
    int64_t kept = 0;
    for (int64_t i = 0; i < trials.count; i++)
        if (keep(&trials.list[i]))
            trials.list[kept++] = trials.list[i];
    trials.count = kept;
    tk_certificate *certificate = NULL;
    int64_t held = 0;
    assert_ok(ctx, tki_certify_trials(ctx, contract, TK_F16, TK_I32, &options, &trials, &held, &certificate));
    assert_int_equal(held, kept);
    free(trials.list);
    return certificate;
}

static bool is_all_patterns(const tki_trial *trial)
{
    return trial->family == TKI_ALL_PATTERNS;
}

static bool is_small_and_listed(const tki_trial *trial)
{
    return trial->family >= 0 && trial->c.dims[0] % 8 == 0 && trial->c.dims[0] <= 64;
}

/* Every pattern comes out right from a kernel that drops the tail, since their number is a power of two. */
static void replay_of_an_exhaustive_one(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tk_certificate *certificate = exhaustive_certificate(ctx, "tail_dropped", is_all_patterns);
    assert_int_equal(tk_certificate_verdict(certificate), TK_PROVED);
    assert_unlisted_refuted(ctx, certificate, NULL, "\"n\":");
    tk_certificate_destroy(certificate);

    certificate = exhaustive_certificate(ctx, NULL, is_all_patterns);
    assert_int_equal(tk_certificate_verdict(certificate), TK_PROVED);
    int64_t not_listed;
    assert_null(replay_counting(ctx, certificate, NULL, &not_listed));
    assert_true(not_listed > 10);
    tk_certificate_destroy(certificate);

    certificate = exhaustive_certificate(ctx, NULL, is_small_and_listed);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    char *difference = replay_edited(ctx, certificate, NULL);
    assert_non_null(difference);
    assert_string_equal(difference, "the verdict is now PROVED, it was HELD");
    free(difference);
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

static json_t *second_trial(json_t *predicate)
{
    return json_array_get(trials_of(predicate), 1);
}

static void edit_second_seed(json_t *predicate)
{
    json_int_t seed = json_integer_value(json_object_get(second_trial(predicate), "seed"));
    json_object_set_new(second_trial(predicate), "seed", json_integer(seed + 1));
}

static void edit_second_shape(json_t *predicate)
{
    json_object_set_new(json_object_get(second_trial(predicate), "shape"), "dim", json_integer(1234567));
}

static void edit_second_family(json_t *predicate)
{
    json_object_set_new(second_trial(predicate), "family", json_string("of_another_version"));
}

static void edit_second_options(json_t *predicate)
{
    json_object_set_new(second_trial(predicate), "options", json_pack("{s:f}", "scale", 2.0));
}

static void edit_second_to_no_trial(json_t *predicate)
{
    json_array_set_new(trials_of(predicate), 1, json_object());
}

static void edit_second_to_the_first(json_t *predicate)
{
    json_array_set(trials_of(predicate), 1, json_array_get(trials_of(predicate), 0));
}

static void edit_second_hash(json_t *predicate)
{
    json_object_set_new(second_trial(predicate), "output_sha256", json_string("0"));
}

static void edit_second_elements(json_t *predicate)
{
    json_object_set_new(second_trial(predicate), "elements", json_integer(7777));
}

static void edit_drop_without_elements(json_t *predicate)
{
    json_t *trials = trials_of(predicate);
    json_array_remove(trials, json_array_size(trials) - 1);
}

static void replay_says_which_trial(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tk_certificate *certificate = quick_certificate(ctx, NULL);
    static const char *const not_made = "is none that this version makes";
    const struct {
        void (*edit)(json_t *);
        const char *which, *what;
    } edits[] = {
        {edit_second_seed, "trial 1, {", not_made},
        {edit_second_shape, "\"dim\":1234567", not_made},
        {edit_second_family, "\"family\":\"of_another_version\"", not_made},
        {edit_second_options, "\"options\":{\"scale\":2.0}", not_made},
        {edit_second_to_no_trial, "trial 1, {}", not_made},
        {edit_second_to_the_first, "trial 1, {", "twice"},
        {edit_second_hash, "trial 1, {", "other output bits"},
        {edit_second_elements, "trial 1, {", "number of elements"},
        {edit_drop_without_elements, "elements", "the certificate says"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *difference = replay_edited(ctx, certificate, edits[i].edit);
        if (!difference || !strstr(difference, edits[i].which) || !strstr(difference, edits[i].what))
            fail_msg("edit %zu: '%s' does not mention '%s' and '%s'", i, difference ? difference : "(none)",
                     edits[i].which, edits[i].what);
        free(difference);
    }
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replay_finds_what_was_edited),  cmocka_unit_test(replay_of_what_is_not_here),
        cmocka_unit_test(replay_of_other_kinds),         cmocka_unit_test(replay_of_an_older_version),
        cmocka_unit_test(replay_of_a_refuted_one),       cmocka_unit_test(replay_says_which_trial),
        cmocka_unit_test(replay_runs_what_was_left_out), cmocka_unit_test(replay_of_an_exhaustive_one),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
