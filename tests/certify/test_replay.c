/* Replay: a certificate's own trials run again and come out the same; what else this version tries must hold. */
#include <stdlib.h>
#include <string.h>

#include "certify/certify.h"
#include "certify/claims.h"
#include "certify/headline.h"
#include "tests/certificate_test.h"
#include "tests/op_test.h"

/* No change. */
static const edit NOTHING = {0};

/* Replays a copy of the certificate that `edit` has changed, and counts the trials that it does not list; the difference, or NULL;
 * free() it. */
static char *replay_counting(tk_ctx *ctx, tk_certificate *certificate, edit e, int64_t *not_listed)
{
    json_t *statement = statement_of(certificate);
    apply(e, predicate_of(statement));
    tk_certificate *edited = unread(statement);
    json_decref(statement);
    bool same = false;
    char *difference = NULL;
    *not_listed = -1;
    assert_ok(ctx, tk_certificate_replay(ctx, edited, NULL, &same, not_listed, &difference));
    assert_int_equal(same, !difference);
    bool again = !same;
    assert_ok(ctx, tk_certificate_replay(ctx, edited, NULL, &again, NULL, NULL));
    assert_int_equal(again, same);
    tk_certificate_destroy(edited);
    return difference;
}

/* All that this version tries is listed, or the outcome is another or stops at a failure. */
static char *replay_edited(tk_ctx *ctx, tk_certificate *certificate, edit e)
{
    int64_t not_listed;
    char *difference = replay_counting(ctx, certificate, e, &not_listed);
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

static void edit_drop_trial(json_t *predicate)
{
    json_array_clear(trials_of(predicate));
}

static void edit_family_to_a_number(json_t *predicate)
{
    edit_hash(predicate);
    json_object_set_new(json_array_get(trials_of(predicate), 0), "family", json_integer(1));
}

TEST_WITH_CONTEXT(replay_finds_what_was_edited)
{
    tk_certificate *certificate = small_certificate(ctx);
    assert_null(replay_edited(ctx, certificate, NOTHING));
    static const struct {
        edit edit;
        const char *difference;
    } edits[] = {
        {{.by = edit_hash}, "trial 0"},
        {{.at = "verdict", .value = "\"PROVED\""}, "verdict"},
        {{.by = edit_drop_trial}, "lists 0"},
        /* A larger shape than was run, in the list only. */
        {{.at = "run.trials.0.shape", .value = "{\"queries\": 1000000, \"dim\": 1, \"vocab\": 2}"}, "trial 0"},
        {{.at = "run.trials.0.family", .value = "\"bits\""}, "trial 0"},
        {{.by = edit_family_to_a_number}, "trial 0"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *difference = replay_edited(ctx, certificate, edits[i].edit);
        if (!difference || !strstr(difference, edits[i].difference))
            fail_msg("edit %zu: '%s' does not mention '%s'", i, difference ? difference : "(none)",
                     edits[i].difference);
        free(difference);
    }
    bool same;
    assert_int_equal(tk_certificate_replay(NULL, certificate, NULL, &same, NULL, NULL), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_certificate_replay(ctx, NULL, NULL, &same, NULL, NULL), TK_BAD_ARGUMENT, "no certificate");
    assert_refused(ctx, tk_certificate_replay(ctx, certificate, NULL, NULL, NULL, NULL), TK_BAD_ARGUMENT,
                   "no pointer for the answer");
    tk_certificate_destroy(certificate);
}

TEST_WITH_CONTEXT(replay_of_what_is_not_here)
{
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
        tk_certificate *edited = unread(statement);
        bool same = true;
        char *difference = (char *)(uintptr_t)1;
        assert_int_equal(tk_certificate_replay(ctx, edited, NULL, &same, NULL, &difference), edits[i].status);
        assert_string_not_equal(tk_ctx_message(ctx), "");
        assert_false(same);
        assert_null(difference);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
}

/* Other kinds of certificates: of a planted wrong kernel, and with inputs given bit by bit. */
TEST_WITH_CONTEXT(replay_of_other_kinds)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    const char *what;
    assert_true(tk_mutant_at(tk_contract_find(quick_op), 0, &options.mutant, &what));
    tk_certificate *certificate = certify_one(ctx, tk_contract_find(quick_op), TK_BF16, TK_I64, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    assert_null(replay_edited(ctx, certificate, NOTHING));
    tk_certificate_destroy(certificate);

    options = TK_CERTIFY_DEFAULTS;
    options.dims = (int64_t[]){2, 2, 2};
    uint64_t weight[] = {0x3c00, 0xfc00, 0x7e01, 0x0001};
    uint64_t index[] = {1, 0};
    options.inputs = (tk_given_input[]){{"weight", weight, 4}, {"index", index, 2}};
    options.input_count = 2;
    certificate = certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_null(replay_edited(ctx, certificate, NOTHING));
    tk_certificate_destroy(certificate);
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

static tk_certificate *quick_certificate(tk_ctx *ctx, const char *mutant)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.skip_mutants = true;
    options.mutant = mutant;
    return certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
}

/* Of some of the trials that this version makes, in the order of `places`, as another version would write it. */
static tk_certificate *other_certificate(tk_ctx *ctx, int64_t (*place)(int64_t i, int64_t count), int64_t fewer)
{
    const tk_contract *contract = tk_contract_find(quick_op);
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.skip_mutants = true;
    tki_trials trials, other;
    assert_ok(ctx, tki_certify_trials_make(ctx, contract, TK_F16, TK_I32, &options, &trials));
    other = (tki_trials){.list = calloc((size_t)trials.count, sizeof *other.list), .count = trials.count - fewer};
    assert_non_null(other.list);
    for (int64_t i = 0; i < other.count; i++)
        other.list[i] = trials.list[place(i, trials.count)];
    tk_certificate *certificate = NULL;
    assert_ok(ctx, tki_certify_trials(ctx, contract, TK_F16, TK_I32, &options, NULL, &other, NULL, &certificate));
    free(trials.list);
    free(other.list);
    return certificate;
}

/* All but the first, the last and one in the middle. */
static int64_t without_three(int64_t i, int64_t count)
{
    return i + 1 + (i + 1 >= count / 2);
}

static int64_t backwards(int64_t i, int64_t count)
{
    return count - 1 - i;
}

/* What this version tries beyond the certificate's trials holds and is counted; in which order it tries does not matter. */
TEST_WITH_CONTEXT(replay_of_an_older_version)
{
    tk_certificate *certificate = other_certificate(ctx, without_three, 3);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    int64_t not_listed;
    assert_null(replay_counting(ctx, certificate, NOTHING, &not_listed));
    assert_int_equal(not_listed, 3);
    char *remarks = NULL;
    assert_ok(ctx, tk_certificate_remarks(ctx, certificate, &remarks));
    assert_non_null(strstr(remarks, "lists "));
    free(remarks);
    tk_certificate_destroy(certificate);
    certificate = other_certificate(ctx, backwards, 0);
    assert_null(replay_edited(ctx, certificate, NOTHING));
    assert_ok(ctx, tk_certificate_remarks(ctx, certificate, &remarks));
    assert_null(remarks);
    tk_certificate_destroy(certificate);
}

static void edit_drop_last(json_t *predicate)
{
    drop(predicate, json_array_size(trials_of(predicate)) - 1);
}

/* With the sentences that follow. */
static void edit_drop_without_elements(json_t *predicate)
{
    json_t *trials = trials_of(predicate);
    const char *op = json_string_value(json_object_get(json_object_get(predicate, "run"), "op"));
    json_array_remove(trials, json_array_size(trials) - 1);
    json_object_set_new(predicate, "evidence", tki_evidence_json(predicate, tk_contract_find(op)));
}

/* Shows late, so that there are trials before the one that refutes it. */
TEST_WITH_CONTEXT(replay_of_a_refuted_one)
{
    tk_certificate *certificate = quick_certificate(ctx, "narrow_index");
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    json_t *statement = statement_of(certificate);
    assert_true(json_array_size(trials_of(predicate_of(statement))) > 10);
    json_decref(statement);
    assert_null(replay_edited(ctx, certificate, NOTHING));
    /* The list of a kernel that crashed ends before the trial in which it did. */
    assert_null(replay_edited(ctx, certificate, (edit){.by = edit_drop_without_elements}));
    tk_certificate_destroy(certificate);
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

static void assert_unlisted_refuted(tk_ctx *ctx, tk_certificate *certificate, edit e, const char *which)
{
    char *difference = replay_edited(ctx, certificate, e);
    static const char *const what = ", which the certificate does not list, is refuted: ";
    if (!difference || strncmp(difference, "trial {", 7) != 0 || !strstr(difference, what) ||
        !strstr(difference, which))
        fail_msg("'%s' does not say that a trial with %s is refuted", difference ? difference : "(none)", which);
    free(difference);
}

/* A list that leaves out what fails. */
TEST_WITH_CONTEXT(replay_runs_what_was_left_out)
{
    tk_certificate *certificate = quick_certificate(ctx, "narrow_index");
    assert_unlisted_refuted(ctx, certificate, (edit){.by = edit_drop_last_held}, "\"vocab\":");
    char *difference = replay_edited(ctx, certificate, (edit){.by = edit_held});
    assert_non_null(difference);
    assert_non_null(strstr(difference, "the verdict is now REFUTED; it was HELD"));
    free(difference);
    tk_certificate_destroy(certificate);

    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.mutant = "nan_masked";
    options.dims = (int64_t[]){3, 40, 50};
    options.family = "normal";
    certificate = certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_null(replay_edited(ctx, certificate, NOTHING));
    assert_unlisted_refuted(ctx, certificate, (edit){.by = edit_drop_family}, "\"queries\":3");
    tk_certificate_destroy(certificate);
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
    assert_ok(ctx, tki_certify_trials(ctx, contract, TK_F16, TK_I32, &options, NULL, &trials, &held, &certificate));
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
TEST_WITH_CONTEXT(replay_of_an_exhaustive_one)
{
    tk_certificate *certificate = exhaustive_certificate(ctx, "tail_dropped", is_all_patterns);
    assert_int_equal(tk_certificate_verdict(certificate), TK_PROVED);
    assert_unlisted_refuted(ctx, certificate, NOTHING, "\"n\":");
    tk_certificate_destroy(certificate);

    certificate = exhaustive_certificate(ctx, NULL, is_all_patterns);
    assert_int_equal(tk_certificate_verdict(certificate), TK_PROVED);
    int64_t not_listed;
    assert_null(replay_counting(ctx, certificate, NOTHING, &not_listed));
    assert_true(not_listed > 10);
    tk_certificate_destroy(certificate);

    certificate = exhaustive_certificate(ctx, NULL, is_small_and_listed);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    char *difference = replay_edited(ctx, certificate, NOTHING);
    assert_non_null(difference);
    assert_string_equal(difference, "the verdict is now PROVED; it was HELD");
    free(difference);
    tk_certificate_destroy(certificate);
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

static void edit_second_to_the_first(json_t *predicate)
{
    json_array_set(trials_of(predicate), 1, json_array_get(trials_of(predicate), 0));
}

TEST_WITH_CONTEXT(replay_says_which_trial)
{
    tk_certificate *certificate = quick_certificate(ctx, NULL);
    static const char *const not_made = "is not a trial of this version";
    const struct {
        edit edit;
        const char *which, *what;
    } edits[] = {
        {{.by = edit_second_seed}, "trial 1, {", not_made},
        {{.at = "run.trials.1.shape.dim", .value = "1234567"}, "\"dim\":1234567", not_made},
        {{.at = "run.trials.1.family", .value = "\"of_another_version\""},
         "\"family\":\"of_another_version\"",
         not_made},
        {{.at = "run.trials.1.options", .value = "{\"scale\": 2.0}"}, "\"options\":{\"scale\":2.0}", not_made},
        {{.at = "run.trials.1", .value = "{}"}, "trial 1, {}", not_made},
        {{.by = edit_second_to_the_first}, "trial 1, {", "twice"},
        {{.at = "run.trials.1.output_sha256", .value = "\"0\""}, "trial 1, {", "different output bits"},
        {{.at = "run.trials.1.elements", .value = "7777"}, "trial 1, {", "number of elements"},
        {{.by = edit_drop_without_elements}, "elements", "the certificate says"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *difference = replay_edited(ctx, certificate, edits[i].edit);
        if (!difference || !strstr(difference, edits[i].which) || !strstr(difference, edits[i].what))
            fail_msg("edit %zu: '%s' does not mention '%s' and '%s'", i, difference ? difference : "(none)",
                     edits[i].which, edits[i].what);
        free(difference);
    }
    tk_certificate_destroy(certificate);
}

/* -- What is compared beside the trials ---------------------------------------------------------------------- */

static void forge_text(json_t *predicate, const char *path, const char *text)
{
    assert_int_equal(json_string_set(member(predicate, path), text), 0);
}

static void forge_more(json_t *predicate, const char *path)
{
    json_t *number = member(predicate, path);
    if (json_is_integer(number))
        json_integer_set(number, json_integer_value(number) + 1);
    else if (json_is_real(number))
        json_real_set(number, json_real_value(number) / 2 + 0.125);
    else
        assert_int_equal(json_string_set(number, "another"), 0);
}

/* Whatever a repetition can tell. */
TEST_WITH_CONTEXT(replay_compares_figures)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    const struct {
        const char *mutant, *path;
    } edits[] = {
        {NULL, "contract.summary"},
        {NULL, "contract.formula"},
        {NULL, "contract.bound"},
        {NULL, "clauses.0.text"},
        {NULL, "clauses.0.checks"},
        {NULL, "clauses.1.checks"},
        {NULL, "result.ulp_histogram.1.elements"},
        {NULL, "result.worst_ulp"},
        {NULL, "result.bound_used"},
        {NULL, "result.absolute_error"},
        {NULL, "result.accepted.worst_ulp"},
        {NULL, "result.accepted.near_zero"},
        {NULL, "result.refined"},
        {NULL, "result.undecided"},
        {NULL, "result.determinism"},
        {NULL, "result.worst.index"},
        {NULL, "result.worst.got_bits"},
        {NULL, "result.worst.trial.seed"},
        {NULL, "headline"},
        {NULL, "mutants.0.what"},
        {"all_zeros", "reason"},
        {"all_zeros", "clauses.0.failures"},
        {"all_zeros", "result.refutation.elements"},
        {"all_zeros", "result.refutation.grade"},
        {"all_zeros", "result.failure.got_bits"},
    };
    tk_certificate *whole = certify_one(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, options);
    options.mutant = "all_zeros";
    tk_certificate *refuted = certify_one(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(whole), TK_HELD);
    assert_int_equal(tk_certificate_verdict(refuted), TK_REFUTED);
    assert_null(replay_edited(ctx, whole, NOTHING));
    assert_null(replay_edited(ctx, refuted, NOTHING));
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(edits[i].mutant ? refuted : whole);
        forge_more(predicate_of(statement), edits[i].path);
        tk_certificate *edited = unread(statement);
        bool same = true;
        char *difference = NULL;
        assert_ok(ctx, tk_certificate_replay(ctx, edited, NULL, &same, NULL, &difference));
        if (same || !difference)
            fail_msg("%s: nobody sees that it was edited", edits[i].path);
        free(difference);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(whole);
    tk_certificate_destroy(refuted);
}

static void assert_contradicts(tk_ctx *ctx, json_t *statement, const char *what)
{
    tk_certificate *edited = unread(statement);
    assert_refused(ctx, tk_certificate_agrees(ctx, edited), TK_BAD_FILE, what);
    bool same = true;
    char *difference = NULL;
    assert_ok(ctx, tk_certificate_replay(ctx, edited, NULL, &same, NULL, &difference));
    assert_false(same);
    free(difference);
    tk_certificate_destroy(edited);
}

/* The run of one case must not read as a whole, however much of the text is edited. */
TEST_WITH_CONTEXT(one_case_does_not_read_as_whole)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.dims = (int64_t[]){1};
    tk_certificate *certificate = certify_one(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, options);
    assert_string_equal(tk_certificate_headline(certificate), "HELD for one case: n=1");
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    json_t *statement = statement_of(certificate);
    json_t *predicate = predicate_of(statement);
    forge_text(predicate, "headline", "HELD");
    assert_contradicts(ctx, statement, "its headline is 'HELD'; its other members give 'HELD for one case: n=1'");
    json_object_del(member(predicate, "run"), "shape");
    assert_contradicts(ctx, statement, "all its trials have one shape");
    json_object_del(predicate, "headline");
    assert_contradicts(ctx, statement, "all its trials have one shape");
    json_decref(statement);

    statement = statement_of(certificate);
    predicate = predicate_of(statement);
    forge_text(predicate, "reason", "none");
    assert_contradicts(ctx, statement, "its verdict is HELD with a reason");
    json_decref(statement);

    options.dims = NULL;
    options.family = "normal";
    tk_certificate *family = certify_one(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, options);
    statement = statement_of(family);
    predicate = predicate_of(statement);
    json_object_del(member(predicate, "run"), "family");
    forge_text(predicate, "headline", "HELD");
    assert_contradicts(ctx, statement, "all its trials have one family");
    json_decref(statement);
    tk_certificate_destroy(family);
    tk_certificate_destroy(certificate);
}

/* What a reader can see without running anything. */
TEST_WITH_CONTEXT(members_agree)
{
    tk_certificate *certificate = certify_one(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, TK_CERTIFY_DEFAULTS);
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    static const struct {
        const char *path, *text; /* NULL: a number, made larger */
        const char *what;
    } edits[] = {
        {"verdict", "PROVED", "no clause is proved"},
        {"verdict", "REFUTED", "no clause is refuted"},
        {"verdict", "SURE", "verdict"},
        {"clauses.0.verdict", "REFUTED", "clause GELU_FWD.ERR is REFUTED with"},
        {"clauses.0.verdict", "PROVED", "a clause is proved"},
        {"clauses.0.failures", NULL, "1 failures"},
        {"clauses.0.text", "anything goes", "is not that of gelu_fwd"},
        {"contract.bound", "B = 1", "contract.bound is not that of gelu_fwd"},
        {"contract.formula", "y = x", "contract.formula is not that of gelu_fwd"},
        {"result.elements", NULL, "elements"},
        {"result.ulp_histogram.0.elements", NULL, "but its histogram has"},
        {"result.worst_ulp", NULL, "its worst element has another|its histogram puts it"},
        {"result.undefined", NULL, "its result has a failure"},
        {"run.trials.0.elements", NULL, "but its trials have"},
        {"run.subject", "cpu.gemm.f16.scalar", "its run gives cpu.gelu_fwd.f16."},
        {"run.kind", "kernel", "its subject is"},
        {"run.op", "gelu_bwd", "its subject is"},
        {"built.artifact_sha256", "00", "another file than its artifact"},
        {"machine.device", "a better one", "its key does not follow"},
        {"key", "00", "key is \"00\"; allowed is sha256"},
        {"key", "0000000000000000000000000000000000000000000000000000000000000000", "its key does not follow"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(certificate);
        if (edits[i].text)
            forge_text(predicate_of(statement), edits[i].path, edits[i].text);
        else
            forge_more(predicate_of(statement), edits[i].path);
        /* Who edits the rest has the headline right. */
        json_object_del(predicate_of(statement), "headline");
        char *headline = tki_headline(predicate_of(statement));
        json_object_set_new(predicate_of(statement), "headline", json_string(headline));
        free(headline);
        tk_certificate *edited = unread(statement);
        tk_status status = tk_certificate_agrees(ctx, edited);
        char expected[160];
        snprintf(expected, sizeof expected, "%s", edits[i].what);
        char *other = strchr(expected, '|');
        if (other)
            *other++ = 0;
        const char *message = tk_ctx_message(ctx);
        if (status != TK_BAD_FILE || !(strstr(message, expected) || (other && strstr(message, other))))
            fail_msg("%s: status %d, '%s' does not say '%s'", edits[i].path, (int)status, message, edits[i].what);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
}

/* Errors by magnitude: complete, and in agreement with the other figures. */
TEST_WITH_CONTEXT(magnitudes_agree)
{
    tk_certificate *certificate = certify_one(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, TK_CERTIFY_DEFAULTS);
    /* Every pattern of x is among the trials, so every binade of either sign occurs. */
    const json_t *by_magnitude = tki_certificate_get(certificate, "result.by_magnitude");
    assert_string_equal(tki_certificate_text(certificate, "result.by_magnitude.input"), "x");
    assert_int_equal(json_array_size(json_object_get(by_magnitude, "positive")), 30);
    assert_int_equal(json_array_size(json_object_get(by_magnitude, "negative")), 30);
    assert_true(tki_certificate_integer(certificate, "result.by_magnitude.subnormal.elements") >= 2 * 1024);
    assert_true(tki_certificate_integer(certificate, "result.by_magnitude.other.elements") >= 2 * 1024);
    static const struct {
        const char *path, *value, *what;
    } edits[] = {
        {"result.by_magnitude.positive.3.elements", "7", "elements; its errors by magnitude"},
        {"result.by_magnitude.positive.3.elements", "0", "malformed"},
        {"result.by_magnitude.positive.3.exponent", "-10", "malformed"},
        {"result.by_magnitude.negative.0.exponent", "-127", "malformed"},
        {"result.by_magnitude.other.worst_ulp", "\"far\"", "malformed"},
        {"result.by_magnitude.negative", "{}", "malformed"},
        {"result.by_magnitude.subnormal.worst_ulp", "\"infinity\"", "by magnitude it is inf ulp"},
        {"result.by_magnitude.positive.3.bound_used", "0.999", "of the bound; by magnitude it is 0.999"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(certificate);
        set_member(predicate_of(statement), edits[i].path, edits[i].value);
        assert_contradicts(ctx, statement, edits[i].what);
        json_decref(statement);
    }
    /* Those of the first form need not have them. */
    json_t *statement = statement_of(certificate);
    bool same = false;
    json_object_set_new(statement, "predicateType", json_string(TKI_PREDICATE_TYPE_1));
    forge_text(predicate_of(statement), "tokitai", "0.1.0");
    json_object_del(member(predicate_of(statement), "result"), "by_magnitude");
    tk_certificate *earlier = unread(statement);
    assert_ok(ctx, tk_certificate_agrees(ctx, earlier));
    assert_ok(ctx, tk_certificate_replay(ctx, earlier, NULL, &same, NULL, NULL));
    assert_true(same);
    tk_certificate_destroy(earlier);
    json_decref(statement);
    tk_certificate_destroy(certificate);
}

static void edit_to_a_giant(json_t *predicate)
{
    json_object_set_new(json_object_get(predicate, "run"), "shape",
                        json_pack("{s:I, s:I, s:I}", "queries", (json_int_t)1 << 30, "dim", (json_int_t)1 << 10,
                                  "vocab", (json_int_t)1));
    json_array_clear(trials_of(predicate));
    json_object_set_new(predicate, "verdict", json_string("UNKNOWN"));
}

/* The reader's memory is the reader's. */
TEST_WITH_CONTEXT(replay_of_a_giant)
{
    tk_certificate *certificate = quick_certificate(ctx, NULL);
    bool same;
    assert_refused(ctx,
                   tk_certificate_replay(ctx, certificate,
                                         &(tk_replay_options){.size = sizeof(tk_replay_options), .memory_gib = 1e-9},
                                         &same, NULL, NULL),
                   TK_UNAVAILABLE, "GiB of memory");
    json_t *statement = statement_of(certificate);
    edit_to_a_giant(predicate_of(statement));
    tk_certificate *edited = unread(statement);
    assert_refused(ctx, tk_certificate_replay(ctx, edited, NULL, &same, NULL, NULL), TK_UNAVAILABLE, "GiB of memory");
    json_decref(statement);
    tk_certificate_destroy(edited);
    tk_certificate_destroy(certificate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replay_finds_what_was_edited),
        cmocka_unit_test(replay_of_what_is_not_here),
        cmocka_unit_test(replay_of_other_kinds),
        cmocka_unit_test(replay_of_an_older_version),
        cmocka_unit_test(replay_of_a_refuted_one),
        cmocka_unit_test(replay_says_which_trial),
        cmocka_unit_test(replay_runs_what_was_left_out),
        cmocka_unit_test(replay_of_an_exhaustive_one),
        cmocka_unit_test(replay_of_a_giant),
        cmocka_unit_test(replay_compares_figures),
        cmocka_unit_test(one_case_does_not_read_as_whole),
        cmocka_unit_test(members_agree),
        cmocka_unit_test(magnitudes_agree),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
