/* Certificates: what they say, that no byte of them can change unnoticed, and that they are written whole or not at all. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "certify/certificate.h"
#include "certify/headline.h"
#include "certify/signed_envelope.h"
#include "core/random.h"
#include "exact/round.h"
#include "tests/certificate_test.h"
#include "tests/fuzz/escape.h"
#include "tests/op_test.h"
#include "tests/work_folder.h"

static void assert_shown(const char *markdown, const char *text)
{
    char *escaped = written(tki_put_markdown, text, SIZE_MAX);
    assert_non_null(strstr(markdown, escaped));
    free(escaped);
}

static void assert_bad_text(tk_ctx *ctx, const char *text, size_t length)
{
    tk_certificate *certificate = (tk_certificate *)(uintptr_t)1;
    /* An exact copy, so that a read past the end is seen. */
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    tk_status status = tk_certificate_parse(ctx, copy, length, &certificate);
    free(copy);
    if (status != TK_BAD_FILE)
        fail_msg("%zu bytes: %s", length, tk_status_text(status));
    assert_null(certificate);
    assert_string_not_equal(tk_ctx_message(ctx), "");
}

/* -- What it says ------------------------------------------------------------------------------------------------ */

TEST_WITH_CONTEXT(says_what_was_found)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.skip_mutants = true;
    const tk_contract *contract = tk_contract_find("gelu_fwd");
    tk_certificate *certificate = certify_one(ctx, contract, TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    tk_lowering_info info;
    assert_true(tk_lowering_at(contract, 0, &info));
    assert_non_null(strstr(tk_certificate_subject(certificate), "cpu.gelu_fwd.f16."));
    assert_true(tk_certificate_elements(certificate) > 10000);
    assert_true(tk_certificate_worst_ulp(certificate) >= 0);
    assert_true(tk_certificate_bound_used(certificate) <= 1);
    assert_true(tk_certificate_seconds(certificate) > 0);
    int rejected = 9;
    assert_int_equal(tk_certificate_mutants(certificate, &rejected), 0);
    assert_int_equal(rejected, 0);
    assert_int_equal(tk_certificate_mutants(certificate, NULL), 0);
    assert_string_equal(tk_certificate_reason(certificate), "");
    assert_string_equal(tk_certificate_reproduce(certificate), "");

    json_t *statement = statement_of(certificate);
    assert_string_equal(json_string_value(json_object_get(statement, "_type")), "https://in-toto.io/Statement/v1");
    const json_t *predicate = predicate_of(statement);
    const json_t *clauses = json_object_get(predicate, "clauses");
    assert_int_equal(json_array_size(clauses), contract->clause_count);
    int64_t checks = 0;
    for (size_t i = 0; i < json_array_size(clauses); i++) {
        const json_t *clause = json_array_get(clauses, i);
        assert_string_equal(json_string_value(json_object_get(clause, "id")), contract->clauses[i].id);
        assert_string_equal(json_string_value(json_object_get(clause, "verdict")), "HELD");
        checks += json_integer_value(json_object_get(clause, "checks"));
    }
    assert_true(checks >= tk_certificate_elements(certificate));
    assert_true(json_array_size(json_object_get(predicate, "evidence")) > 0);
    assert_true(json_array_size(json_object_get(predicate, "non_claims")) > 0);
    const json_t *trials = json_object_get(json_object_get(predicate, "run"), "trials");
    int64_t elements = 0;
    for (size_t i = 0; i < json_array_size(trials); i++)
        elements += json_integer_value(json_object_get(json_array_get(trials, i), "elements"));
    assert_int_equal(elements, tk_certificate_elements(certificate));
    const json_t *histogram = json_object_get(json_object_get(predicate, "result"), "ulp_histogram");
    elements = 0;
    for (size_t i = 0; i < json_array_size(histogram); i++)
        elements += json_integer_value(json_object_get(json_array_get(histogram, i), "elements"));
    assert_int_equal(elements, tk_certificate_elements(certificate));

    const char *markdown = tk_certificate_markdown(certificate);
    assert_non_null(markdown);
    for (int i = 0; i < contract->clause_count; i++) {
        assert_shown(markdown, contract->clauses[i].id);
        assert_shown(markdown, contract->clauses[i].text);
    }
    static const char *const lists[] = {"evidence", "non_claims"};
    for (int l = 0; l < 2; l++) {
        const json_t *list = json_object_get(predicate, lists[l]);
        for (size_t i = 0; i < json_array_size(list); i++)
            assert_shown(markdown, json_string_value(json_array_get(list, i)));
    }
    assert_ptr_equal(tk_certificate_markdown(certificate), markdown); /* valid as long as the certificate */
    json_decref(statement);
    tk_certificate_destroy(certificate);
    tk_certificate_destroy(NULL);
}

/* -- The verdict in one line --------------------------------------------------------------------------------------- */

/* `run` is that member of the predicate, in JSON; the pairs are what it comes to. */
static void assert_headline(const char *verdict, const char *run, const char *scope, const char *headline)
{
    json_t *predicate = json_pack("{s:s, s:o}", "verdict", verdict, "run", json_loads(run, 0, NULL));
    assert_non_null(predicate);
    char *is_scope = tki_scope(predicate);
    char *is_headline = tki_headline(predicate);
    assert_string_equal(is_scope, scope);
    assert_string_equal(is_headline, headline);
    free(is_scope);
    free(is_headline);
    json_decref(predicate);
}

TEST(headlines_say_what_the_verdict_is_about)
{
    static const char options[] = "\"options\": {\"label_smoothing\": 0.1, \"scale\": 1, \"ignore_index\": -100}";
    char run[256];
    assert_headline("HELD", "{\"op\": \"gemm\", \"attributes\": {\"numerics\": \"ieee\"}}", "", "HELD");
    assert_headline("PROVED", "{}", "", "PROVED");
    assert_headline("HELD", "{\"op\": \"gelu_fwd\", \"shape\": {\"n\": 1}}", "for one case: n=1",
                    "HELD for one case: n=1");
    /* In the contract's order; what this build does not know, by name. */
    assert_headline("REFUTED", "{\"op\": \"gemm\", \"shape\": {\"k\": 5, \"m\": 3, \"n\": 4}}",
                    "for one case: m=3 n=4 k=5", "REFUTED for one case: m=3 n=4 k=5");
    assert_headline("HELD", "{\"op\": \"later\", \"shape\": {\"k\": 5, \"b\": 2}}", "for one case: b=2 k=5",
                    "HELD for one case: b=2 k=5");
    assert_headline("HELD", "{\"op\": \"gelu_fwd\", \"shape\": {\"n\": 2}, \"inputs\": {\"x\": [1, 2]}}",
                    "for one case: n=2, inputs given", "HELD for one case: n=2, inputs given");
    assert_headline("HELD", "{\"op\": \"gelu_fwd\", \"shape\": {\"n\": 2}, \"family\": \"huge\"}",
                    "for one case: n=2, family huge", "HELD for one case: n=2, family huge");
    assert_headline("UNKNOWN", "{\"family\": \"huge\"}", "for one family: huge", "UNKNOWN for one family: huge");
    snprintf(run, sizeof run, "{%s}", options);
    assert_headline("HELD", run, "for one set of options: ignore_index=-100 label_smoothing=0.1 scale=1",
                    "HELD for one set of options: ignore_index=-100 label_smoothing=0.1 scale=1");
    snprintf(run, sizeof run, "{%s, \"family\": \"huge\"}", options);
    assert_headline("HELD", run, "for one family: huge, ignore_index=-100 label_smoothing=0.1 scale=1",
                    "HELD for one family: huge, ignore_index=-100 label_smoothing=0.1 scale=1");
    assert_headline(
        "HELD",
        "{\"attributes\": {\"numerics\": \"tensor_core\", \"matrix_unit\": \"sm_90\", \"domain\": \"normal\"}}",
        "under tensor_core numerics on the domain normal", "HELD under tensor_core numerics on the domain normal");
    assert_headline("HELD", "{\"op\": \"gelu_fwd\", \"attributes\": {\"domain\": \"normal\"}, \"shape\": {\"n\": 1}}",
                    "on the domain normal for one case: n=1", "HELD on the domain normal for one case: n=1");
    assert_headline("HELD", "{\"attributes\": {\"accuracy\": \"low\", \"domain\": \"normal\"}}",
                    "on the domain normal with accuracy=low", "HELD on the domain normal with accuracy=low");
    /* One line, whatever an edited certificate holds. */
    assert_headline("HELD\n", "{\"family\": \"a\\nb\\u007f\", \"attributes\": {\"numerics\": 7}}",
                    "for one family: a\\x0ab\\x7f", "HELD\\x0a for one family: a\\x0ab\\x7f");
    char *none = tki_headline(NULL);
    assert_string_equal(none, "");
    free(none);
}

/* In the first form three attributes were members of `run`, at their defaults, too. */
TEST_WITH_CONTEXT(the_first_form_is_read)
{
    static const struct {
        const char *op, *run, *headline, *attributes;
    } forms[] = {
        {"gemm", "{\"numerics\": \"tensor_core\", \"matrix_unit\": \"sm_90\", \"domain\": \"normal\"}",
         "HELD under tensor_core numerics on the domain normal",
         "{\"domain\": \"normal\", \"matrix_unit\": \"sm_90\", \"numerics\": \"tensor_core\"}"},
        {"gemm", "{\"numerics\": \"ieee\", \"matrix_unit\": \"unknown\", \"domain\": \"all\"}", "HELD",
         "{\"numerics\": \"ieee\"}"},
        {"gelu_fwd", "{\"numerics\": \"ieee\", \"domain\": \"all\"}", "HELD", NULL},
        {"nine", "{\"numerics\": \"ieee\", \"attributes\": {\"accuracy\": \"low\"}}", "HELD with accuracy=low",
         "{\"accuracy\": \"low\"}"},
        {"nine", "{\"numerics\": 7, \"attributes\": 7}", "HELD", NULL},
    };
    tk_certificate *certificate = small_certificate(ctx);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        json_t *statement = statement_of(certificate), *run = json_object_get(predicate_of(statement), "run");
        json_t *more = json_loads(forms[i].run, 0, NULL);
        json_t *attributes = forms[i].attributes ? json_loads(forms[i].attributes, 0, NULL) : NULL;
        char *remarks = NULL;
        json_object_set_new(statement, "predicateType", json_string(TKI_PREDICATE_TYPE_1));
        json_object_set_new(run, "op", json_string(forms[i].op));
        json_object_del(run, "shape");
        json_object_del(run, "family");
        json_object_update(run, more);
        tk_certificate *read = unread(statement);
        assert_string_equal(tk_certificate_headline(read), forms[i].headline);
        const json_t *is = tki_certificate_get(read, "run.attributes");
        assert_true(attributes ? json_equal(is, attributes) : !json_object_size(is));
        assert_null(tki_certificate_get(read, "run.numerics"));
        assert_ok(ctx, tk_certificate_remarks(ctx, read, &remarks));
        assert_non_null(remarks);
        assert_non_null(strstr(remarks, "of an earlier predicate version"));
        char *text = sealed(statement);
        assert_string_equal(tk_certificate_json(read), text);
        free(text);
        free(remarks);
        tk_certificate_destroy(read);
        json_decref(attributes);
        json_decref(more);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
}

/* JSON, page and what programs ask say the same. */
TEST_WITH_CONTEXT(the_headline_is_everywhere)
{
    tk_certificate *certificate = small_certificate(ctx);
    static const char expected[] = "HELD for one case: queries=3 dim=1 vocab=2, family normal";
    assert_string_equal(tk_certificate_headline(certificate), expected);
    assert_string_equal(tk_certificate_scope(certificate), expected + strlen("HELD "));
    json_t *statement = statement_of(certificate);
    assert_string_equal(json_string_value(json_object_get(predicate_of(statement), "headline")), expected);
    char title[128];
    snprintf(title, sizeof title, "# %s: %s\n", tk_certificate_subject(certificate), expected);
    assert_non_null(strstr(tk_certificate_markdown(certificate), title));
    tk_certificate_destroy(certificate);
    /* Certificates of earlier versions have none; an edited one is not believed. */
    json_object_set_new(predicate_of(statement), "headline", json_string("PROVED"));
    certificate = unread(statement);
    assert_string_equal(tk_certificate_headline(certificate), expected);
    tk_certificate_destroy(certificate);
    json_object_del(predicate_of(statement), "headline");
    json_object_del(json_object_get(predicate_of(statement), "result"), "accepted");
    json_object_set_new(json_object_get(predicate_of(statement), "result"), "worst_ulp", json_real(7));
    certificate = unread(statement);
    assert_string_equal(tk_certificate_headline(certificate), expected);
    assert_true(tk_certificate_accepted_ulp(certificate) == 7);
    assert_non_null(strstr(tk_certificate_markdown(certificate), "\n| worst error (ulp) | 7 |\n"));
    tk_certificate_destroy(certificate);
    json_decref(statement);
}

/* `refutation` is that member of the result, in JSON. */
static void assert_refutation(const char *refutation, const char *headline)
{
    json_t *predicate = json_pack("{s:s, s:{s:s, s:{s:i}}, s:{s:o}}", "verdict", "REFUTED", "run", "op", "gelu_fwd",
                                  "shape", "n", 5, "result", "refutation", json_loads(refutation, 0, NULL));
    assert_non_null(predicate);
    char *with_case = tki_headline(predicate);
    json_object_del(predicate, "run");
    char *text = tki_headline(predicate);
    char expected[256];
    snprintf(expected, sizeof expected, "REFUTED, %s", headline);
    assert_string_equal(text, expected);
    snprintf(expected, sizeof expected, "REFUTED for one case: n=5; %s", headline);
    assert_string_equal(with_case, expected);
    free(text);
    free(with_case);
    json_decref(predicate);
}

TEST(headlines_say_how_wrong)
{
    assert_refutation("{\"grade\": \"slight\", \"elements\": 12, \"of_elements\": 4096, \"worst_ulp\": 1}",
                      "slight so far: 12 of 4,096 elements (0.29 %) wrong, by at most 1 ulp");
    assert_refutation("{\"grade\": \"inexact\", \"elements\": 1234567, \"of_elements\": 2000000, \"complete\": true, "
                      "\"trials\": 3, \"of_trials\": 54, \"median_up_to_ulp\": 4.0, \"worst_ulp\": 300.5}",
                      "inexact: 1,234,567 of 2,000,000 elements (62 %) wrong in 3 of 54 trials, half of them by at "
                      "most 4 ulp, the worst by 300.5 ulp");
    assert_refutation(
        "{\"grade\": \"gross\", \"elements\": 64, \"of_elements\": 64, \"complete\": true, \"of_trials\": "
        "1, \"median_up_to_ulp\": \"infinity\", \"worst_ulp\": 5e6}",
        "gross: all 64 elements wrong, half of them by more than 1024 ulp, the worst by 5e+06 ulp");
    assert_refutation(
        "{\"grade\": \"gross\", \"elements\": 9, \"of_elements\": 64, \"median_up_to_ulp\": \"infinity\", "
        "\"worst_ulp\": \"infinity\", \"nan\": 2, \"special\": 7}",
        "gross so far: 9 of 64 elements wrong, 2 NaN, 7 where only NaN or an infinity is right");
    assert_refutation("{\"grade\": \"structural\", \"elements\": 0, \"structural\": [\"A.WRITE\", \"A.REPEAT\"]}",
                      "structural (A.WRITE, A.REPEAT)");
    /* Edited ones: one line, and nothing adds up to more than fits. */
    assert_refutation("{\"grade\": \"a\\nb\", \"elements\": 9223372036854775807, \"of_elements\": -5, \"nan\": "
                      "9223372036854775807, \"special\": 9223372036854775807}",
                      "a\\x0ab so far: 1,152,921,504,606,846,976 of 0 elements wrong, 1,152,921,504,606,846,976 NaN, "
                      "1,152,921,504,606,846,976 where only NaN or an infinity is right");
    assert_refutation("{}", " so far");
}

/* Nothing in a cell can end it, begin another row or be HTML. */
TEST_WITH_CONTEXT(foreign_text_stays_in_its_cell)
{
    static const char text[] = "a|b\n| c <img src=x>\t\\|\r\n\n# d\x7f";
    static const char cell[] = "a\\|b\\\\x0a\\| c &lt;img src=x>\\\\x09\\\\\\|\\\\x0d\\\\x0a\\\\x0a\\# d\\\\x7f";
    static const char *const rows[][3] = {{"built", "note", "note"},
                                          {"built", "options", "options"},
                                          {"machine", "device", "device"},
                                          {"result", "determinism", "determinism reached"}};
    tk_certificate *certificate = small_certificate(ctx);
    json_t *statement = statement_of(certificate);
    tk_certificate_destroy(certificate);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        json_object_set_new(json_object_get(predicate_of(statement), rows[i][0]), rows[i][1], json_string(text));
    json_object_set_new(json_array_get(json_object_get(predicate_of(statement), "clauses"), 0), "id",
                        json_string(text));
    certificate = unread(statement);
    const char *markdown = tk_certificate_markdown(certificate);
    char row[128];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(row, sizeof row, "\n| %s | %s |\n", rows[i][2], cell);
        assert_non_null(strstr(markdown, row));
    }
    snprintf(row, sizeof row, "\n| %s | HELD | ", cell);
    assert_non_null(strstr(markdown, row));
    json_decref(statement);
    tk_certificate_destroy(certificate);
}

/* A heading, a script, a table, a link, and what steers a terminal or turns its text round. */
static const char forgery[] =
    "x\n\n# FORGED\n\n<script>alert(1)</script> | `a` [b](http://c) *d*\n```\n| e |\n\033[31m\xc2\x9b"
    "31m\u202e";

/* Takes out the code, in which nothing is markup: from a run of backticks to the next as long. */
static char *without_code(const char *page)
{
    char *rest = strdup(page), *to = rest;
    assert_non_null(rest);
    for (const char *p = page; *p;) {
        const size_t run = strspn(p, "`");
        if (p[0] == '\\' && p[1]) {
            *to++ = *p++;
            *to++ = *p++;
        } else if (!run) {
            *to++ = *p++;
        } else {
            const char *end = p + run;
            while (*end && strspn(end, "`") != run)
                end += strspn(end, "`") + (*end != '`');
            assert_true(*end); /* it is closed */
            p = end + run;
        }
    }
    *to = 0;
    return rest;
}

/* The page of this certificate, whether or not it contradicts itself: every line as the template has it, and all of it seen. */
static void assert_page_holds(json_t *statement)
{
    tk_certificate *certificate = unread(statement);
    const char *page = tk_certificate_markdown(certificate);
    assert_true(is_visible(page, "\n"));
    assert_true(is_visible(tk_certificate_headline(certificate), ""));
    char *rest = without_code(page);
    assert_null(strcasestr(rest, "<script"));
    assert_null(strstr(rest, "\n# "));
    assert_null(strstr(rest, "http://"));
    assert_null(strstr(rest, "\n| e |"));
    free(rest);
    tk_certificate_destroy(certificate);
}

/* In place of every string, one after the other, and as one more name in every object. Returns how often. */
static int forge_everything(json_t *statement, json_t *at)
{
    int forged = 0;
    const char *key;
    json_t *value;
    size_t i;
    void *next;
    if (json_is_string(at)) {
        char *kept = strdup(json_string_value(at));
        json_string_set(at, forgery);
        assert_page_holds(statement);
        forged++;
        json_string_set(at, kept);
        free(kept);
    }
    if (json_is_object(at) && at != statement) {
        json_object_set_new(at, forgery, json_integer(1));
        assert_page_holds(statement);
        forged++;
        json_object_del(at, forgery);
    }
    json_object_foreach_safe(at, next, key, value)
    {
        forged += forge_everything(statement, value);
    }
    json_array_foreach(at, i, value)
    {
        forged += i < 2 ? forge_everything(statement, value) : 0;
    }
    return forged;
}

TEST_WITH_CONTEXT(no_text_from_outside_is_markup)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.dims = (int64_t[]){3, 1, 2};
    const char *what;
    assert_true(tk_mutant_at(tk_contract_find(quick_op), 0, &options.mutant, &what));
    tk_certificate *refuted = certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
    json_t *statement = statement_of(refuted);
    json_object_set_new(predicate_of(statement), "worker",
                        json_pack("{s:[s], s:s}", "confinement", "a sentence", "clock", "a clock"));
    json_object_set_new(predicate_of(statement), "coverage",
                        json_pack("{s:b, s:{s:s}}", "known", 1, "lines", "reason", "none"));
    assert_page_holds(statement);
    assert_true(forge_everything(statement, statement) > 50);
    json_decref(statement);
    tk_certificate_destroy(refuted);
}

TEST_WITH_CONTEXT(round_trip)
{
    tk_certificate *certificate = small_certificate(ctx);
    const char *text = tk_certificate_json(certificate);
    tk_certificate *read = NULL;
    assert_ok(ctx, tk_certificate_parse(ctx, text, strlen(text), &read));
    assert_string_equal(tk_certificate_json(read), text);
    assert_string_equal(tk_certificate_markdown(read), tk_certificate_markdown(certificate));
    assert_int_equal(tk_certificate_verdict(read), tk_certificate_verdict(certificate));
    assert_true(tk_certificate_worst_ulp(read) == tk_certificate_worst_ulp(certificate));
    tk_certificate_destroy(read);

    char *path = NULL;
    assert_ok(ctx, tk_certificate_write(ctx, certificate, "out", &path));
    assert_non_null(strstr(path, "out/cpu.embedding_fwd.f16."));
    assert_ok(ctx, tk_certificate_read(ctx, path, &read));
    assert_string_equal(tk_certificate_json(read), text);
    assert_int_equal(entries("out"), 2);
    tk_certificate_destroy(read);
    free(path);
    assert_ok(ctx, tk_certificate_write(ctx, certificate, "out", NULL)); /* over itself */
    assert_int_equal(entries("out"), 2);
    tk_certificate_destroy(certificate);
}

/* White space is no part of what is sealed: the line is the same certificate, and reads back as the canonical text. */
TEST_WITH_CONTEXT(one_line)
{
    tk_certificate *certificate = small_certificate(ctx);
    const char *text = tk_certificate_json(certificate);
    char *line = tki_statement_line(certificate->statement);
    assert_non_null(line);
    assert_true(strlen(line) < strlen(text));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    tk_certificate *read = NULL;
    assert_ok(ctx, tk_certificate_parse(ctx, line, strlen(line), &read));
    assert_string_equal(tk_certificate_json(read), text);
    assert_string_equal(tk_certificate_markdown(read), tk_certificate_markdown(certificate));
    tk_certificate_destroy(read);
    free(line);
    tk_certificate_destroy(certificate);
}

/* -- Nothing changes unnoticed ------------------------------------------------------------------------------------- */

/* Takes over `text`, an intact certificate. */
static void refuse_every_changed_byte(tk_ctx *ctx, char *text)
{
    assert_non_null(text);
    size_t length = strlen(text);
    char *changed = malloc(length + 1);
    assert_non_null(changed);
    tki_random random = tki_random_stream(17, 0);
    for (size_t i = 0; i < length; i++) {
        char before = text[i];
        text[i] = (char)(before ^ (1 << tki_random_below(&random, 8)));
        assert_bad_text(ctx, text, length);
        text[i] = before;
    }
    for (int i = 0; i < effort(400); i++) {
        size_t at = (size_t)tki_random_below(&random, length + 1);
        static const char likely[] = " \n\t0123456789,:\"{}[]-.eE\\";
        char byte = i & 1 ? likely[tki_random_below(&random, sizeof likely)] : (char)tki_random_u64(&random);
        memcpy(changed, text, at);
        changed[at] = byte;
        memcpy(changed + at + 1, text + at, length - at);
        assert_bad_text(ctx, changed, length + 1);
        at = (size_t)tki_random_below(&random, length);
        memcpy(changed, text, at);
        memcpy(changed + at, text + at + 1, length - at - 1);
        assert_bad_text(ctx, changed, length - 1);
    }
    for (size_t cut = 0; cut < length; cut += 1 + length / 300)
        assert_bad_text(ctx, text, cut);
    assert_bad_text(ctx, text, length - 1);
    tk_certificate *read;
    assert_ok(ctx, tk_certificate_parse(ctx, text, length, &read));
    tk_certificate_destroy(read);
    free(changed);
    free(text);
}

TEST_WITH_CONTEXT(every_changed_byte_is_refused)
{
    tk_certificate *certificate = small_certificate(ctx);
    refuse_every_changed_byte(ctx, strdup(tk_certificate_json(certificate)));
    refuse_every_changed_byte(ctx, tki_statement_line(certificate->statement));
    tk_certificate_destroy(certificate);
}

/* Replaces the first occurrence. */
static char *replaced(const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    assert_non_null(at);
    char *result = NULL;
    assert_true(asprintf(&result, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) > 0);
    return result;
}

TEST_WITH_CONTEXT(malformed_texts)
{
    static const char *const texts[] = {
        "",
        " ",
        "\n",
        "null",
        "0",
        "\"\"",
        "[]",
        "{}",
        "{",
        "}",
        "[{}]",
        "{\"_type\": 3}",
        "hello",
        "\xff\xfe",
        "{\"a\": 1e999}",
        "{\"_type\": \"https://in-toto.io/Statement/v1\"}",
        "{\"_type\": \"https://in-toto.io/Statement/v1\", \"predicateType\": \"urn:tokitai:kernel-certificate:v1\"}",
        "{\"_type\": \"https://in-toto.io/Statement/v1\", \"predicateType\": \"urn:tokitai:kernel-certificate:v3\"}",
        "{\"predicate\": [], \"_type\": \"https://in-toto.io/Statement/v1\"}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_bad_text(ctx, texts[i], strlen(texts[i]));
    assert_bad_text(ctx, "{\0}", 3);

    enum { DEEP = 200000 };
    char *deep = malloc(DEEP);
    assert_non_null(deep);
    memset(deep, '[', DEEP);
    assert_bad_text(ctx, deep, DEEP);
    for (size_t i = 0; i + 5 < DEEP; i += 5)
        memcpy(deep + i, "{\"a\":", 5);
    assert_bad_text(ctx, deep, DEEP);
    free(deep);

    tk_certificate *certificate = small_certificate(ctx);
    const char *text = tk_certificate_json(certificate);
    static const char *const changes[][2] = {
        {"\"verdict\": \"HELD\"", "\"verdict\": \"HELD\", \"verdict\": \"HELD\""}, /* twice, though the same */
        {"\"verdict\": \"HELD\"", "\"verdict\": \"PROVED\""},
        {"\"verdict\": \"HELD\"", "\"verdict\": \"H\\u0045LD\""}, /* the same, written otherwise */
        {"\"verdict\": \"HELD\"", "\"verdict\" : \"HELD\""},
        {"\"elements\": 3", "\"elements\": 3.0"},
        {"\"elements\": 3", "\"elements\": -3"},
        {"\"elements\": 3", "\"elements\": 3000000000000000000000"},
        {"\n", "\r\n"},
        /* Beside the hash itself: the one place that the hash does not cover. */
        {"\"integrity\": {", "\"integrity\": {\n   \"remark\": \"seen by nobody\","},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *changed = replaced(text, changes[i][0], changes[i][1]);
        assert_bad_text(ctx, changed, strlen(changed));
        free(changed);
    }
    /* The same in the form in which certificates are written. */
    json_t *statement = statement_of(certificate);
    json_object_set_new(json_object_get(predicate_of(statement), "integrity"), "remark",
                        json_string("seen by nobody"));
    char *remarked = tki_statement_text(statement);
    assert_non_null(remarked);
    assert_bad_text(ctx, remarked, strlen(remarked));
    free(remarked);
    json_decref(statement);

    tk_certificate *read;
    assert_int_equal(tk_certificate_parse(NULL, text, strlen(text), &read), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_certificate_parse(ctx, NULL, 0, &read), TK_BAD_ARGUMENT, "no text");
    assert_refused(ctx, tk_certificate_parse(ctx, text, strlen(text), NULL), TK_BAD_ARGUMENT, "no pointer");
    tk_certificate_destroy(certificate);
}

TEST_WITH_CONTEXT(files_that_are_not_certificates)
{
    tk_certificate *read = NULL;
    FILE *file = fopen("huge.json", "wb");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)TKI_ENVELOPE_MOST_BYTES + 1), 0);
    fclose(file);
    assert_refused(ctx, tk_certificate_read(ctx, "huge.json", &read), TK_BAD_FILE, "huge.json has");
    char *blank = malloc(TKI_CERTIFICATE_MOST_BYTES + 1);
    assert_non_null(blank);
    memset(blank, ' ', TKI_CERTIFICATE_MOST_BYTES);
    memcpy(blank + TKI_CERTIFICATE_MOST_BYTES - 1, "{}", 2);
    assert_refused(ctx, tk_certificate_parse(ctx, blank, TKI_CERTIFICATE_MOST_BYTES + 1, &read), TK_BAD_FILE,
                   "too large");
    free(blank);
    assert_refused(ctx, tk_certificate_read(ctx, "none.json", &read), TK_IO, "none.json");
    assert_refused(ctx, tk_certificate_read(ctx, ".", &read), TK_IO, "regular");
    file = fopen("bad.json", "wb");
    assert_non_null(file);
    fputs("{\n \"a\": }", file);
    fclose(file);
    assert_refused(ctx, tk_certificate_read(ctx, "bad.json", &read), TK_BAD_FILE, "bad.json: not JSON: line 2");
    file = fopen("empty.json", "wb");
    assert_non_null(file);
    fclose(file);
    assert_refused(ctx, tk_certificate_read(ctx, "empty.json", &read), TK_BAD_FILE, "empty.json: ");
    assert_null(read);
    assert_int_equal(tk_certificate_read(NULL, "a", &read), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_certificate_read(ctx, NULL, &read), TK_BAD_ARGUMENT, "no path");
}

/* Whatever a carefully edited certificate holds in place of what belongs there, it is refused or can be shown. */
static int try_sealed(tk_ctx *ctx, json_t *statement)
{
    char *text = sealed(statement);
    tk_certificate *certificate = NULL;
    tk_status status = tk_certificate_parse(ctx, text, strlen(text), &certificate);
    free(text);
    assert_true(status == TK_OK || status == TK_BAD_FILE);
    if (status != TK_OK)
        return 0;
    assert_non_null(tk_certificate_markdown(certificate));
    (void)tk_certificate_verdict(certificate);
    (void)tk_certificate_subject(certificate);
    (void)tk_certificate_elements(certificate);
    (void)tk_certificate_worst_ulp(certificate);
    (void)tk_certificate_accepted_ulp(certificate);
    tk_refutation refutation;
    (void)tk_certificate_refutation(certificate, &refutation);
    assert_null(strpbrk(tk_certificate_headline(certificate), "\n\r\x1b"));
    (void)tk_certificate_bound_used(certificate);
    (void)tk_certificate_seconds(certificate);
    (void)tk_certificate_reason(certificate);
    (void)tk_certificate_reproduce(certificate);
    (void)tk_certificate_mutants(certificate, NULL);
    tk_certificate_destroy(certificate);
    return 1;
}

static int replace_everything(tk_ctx *ctx, json_t *statement, json_t *at)
{
    int accepted = 0;
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_object(at)) {
        json_t *keys = json_array();
        json_object_foreach(at, key, value) json_array_append_new(keys, json_string(key));
        json_array_foreach(keys, i, value)
        {
            key = json_string_value(value);
            json_t *kept = json_incref(json_object_get(at, key));
            accepted += replace_everything(ctx, statement, kept);
            json_t *const other[] = {json_null(),   json_integer(INT64_MIN), json_string(""),    json_array(),
                                     json_object(), json_real(-0.0),         json_pack("[[{}]]")};
            json_object_del(at, key);
            if (json_is_object(predicate_of(statement)))
                accepted += try_sealed(ctx, statement);
            for (size_t o = 0; o < sizeof other / sizeof *other; o++) {
                json_object_set_new(at, key, other[o]);
                if (json_is_object(predicate_of(statement)))
                    accepted += try_sealed(ctx, statement);
            }
            json_object_set_new(at, key, kept);
        }
        json_decref(keys);
    } else if (json_is_array(at) && json_array_size(at)) {
        json_t *kept = json_incref(json_array_get(at, 0));
        accepted += replace_everything(ctx, statement, kept);
        json_t *const other[] = {json_null(), json_integer(7), json_array(), json_object()};
        for (size_t o = 0; o < sizeof other / sizeof *other; o++) {
            json_array_set_new(at, 0, other[o]);
            accepted += try_sealed(ctx, statement);
        }
        json_array_set_new(at, 0, kept);
    }
    return accepted;
}

TEST_WITH_CONTEXT(wrong_types_are_refused_or_shown)
{
    tk_certificate *certificate = small_certificate(ctx);
    json_t *statement = statement_of(certificate);
    assert_true(replace_everything(ctx, statement, statement) > 0);
    /* What the library reads must be there and of its type. */
    static const char *const needed[] = {"verdict", "reason",  "key",   "tokitai", "run",      "clauses",
                                         "result",  "mutants", "built", "machine", "evidence", "non_claims"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        json_t *kept = json_incref(json_object_get(predicate_of(statement), needed[i]));
        json_object_set_new(predicate_of(statement), needed[i], json_integer(1));
        assert_int_equal(try_sealed(ctx, statement), 0);
        assert_non_null(strstr(tk_ctx_message(ctx), needed[i]));
        json_object_set_new(predicate_of(statement), needed[i], kept);
    }
    assert_int_equal(try_sealed(ctx, statement), 1);
    json_decref(statement);
    tk_certificate_destroy(certificate);
    /* What only a refuted one has. */
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.dims = (int64_t[]){3, 1, 2};
    const char *what;
    assert_true(tk_mutant_at(tk_contract_find(quick_op), 0, &options.mutant, &what));
    certificate = certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    statement = statement_of(certificate);
    json_t *result = json_object_get(predicate_of(statement), "result");
    assert_true(replace_everything(ctx, statement, result) > 0);
    json_decref(statement);
    tk_certificate_destroy(certificate);
}

/* -- Writing ------------------------------------------------------------------------------------------------------------- */

TEST_WITH_CONTEXT(written_to_the_state_directory)
{
    tk_certificate *certificate = small_certificate(ctx);
    char home[64];
    snprintf(home, sizeof home, "%s/deep/state", work);
    setenv("XDG_STATE_HOME", home, 1);
    char *path = NULL;
    assert_ok(ctx, tk_certificate_write(ctx, certificate, NULL, &path));
    assert_memory_equal(path, home, strlen(home));
    assert_non_null(strstr(path, "/tokitai/certificates/"));
    assert_non_null(strstr(path, tki_certificate_text(certificate, "key")));
    tk_certificate *read = NULL;
    assert_ok(ctx, tk_certificate_read(ctx, path, &read));
    tk_certificate_destroy(read);
    free(path);
    assert_int_equal(entries("deep/state/tokitai/certificates"), 2);
    tk_certificate_destroy(certificate);
}

TEST_WITH_CONTEXT(write_errors_leave_nothing)
{
    tk_certificate *certificate = small_certificate(ctx);
    char *path = NULL;
    fclose(fopen("file", "wb"));
    assert_refused(ctx, tk_certificate_write(ctx, certificate, "file/below", &path), TK_IO, "file");
    assert_refused(ctx, tk_certificate_write(ctx, certificate, "file", &path), TK_IO, "file");
    assert_refused(ctx, tk_certificate_write(ctx, certificate, "", &path), TK_IO, "directory");
    assert_refused(ctx, tk_certificate_write(ctx, certificate, "/proc/nowhere", &path), TK_IO, "/proc/nowhere");
    assert_refused(ctx, tk_certificate_write(ctx, certificate, "/proc/self", &path), TK_IO,
                   "cannot write /proc/self/");
    assert_null(path);
    assert_int_equal(entries("."), 1);
    assert_int_equal(tk_certificate_write(NULL, certificate, ".", &path), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_certificate_write(ctx, NULL, ".", &path), TK_BAD_ARGUMENT, "no certificate");

    /* A disk that is full after a few hundred bytes. */
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){500, before.rlim_max}), 0);
    tk_status status = tk_certificate_write(ctx, certificate, "full", &path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_refused(ctx, status, TK_IO, "cannot write full/");
    assert_null(path);
    assert_int_equal(entries("full"), 0);

    /* A certificate that was there stays as it was. */
    assert_ok(ctx, tk_certificate_write(ctx, certificate, "kept", &path));
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){500, before.rlim_max}), 0);
    status = tk_certificate_write(ctx, certificate, "kept", NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, TK_IO);
    tk_certificate *read = NULL;
    assert_ok(ctx, tk_certificate_read(ctx, path, &read));
    assert_int_equal(entries("kept"), 2);
    tk_certificate_destroy(read);
    free(path);
    tk_certificate_destroy(certificate);
}

TEST_WITH_CONTEXT(two_processes_write_the_same_certificate)
{
    enum { WRITERS = 3, ROUNDS = 20 };
    tk_certificate *certificate = small_certificate(ctx);
    char *path = NULL;
    assert_ok(ctx, tk_certificate_write(ctx, certificate, "shared", &path));
    pid_t writer[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        writer[w] = fork();
        assert_true(writer[w] >= 0);
        if (writer[w] == 0) {
            bool good = true;
            for (int i = 0; i < ROUNDS; i++)
                good &= tk_certificate_write(ctx, certificate, "shared", NULL) == TK_OK;
            _exit(good ? 0 : 1);
        }
    }
    tk_certificate *read = NULL;
    for (int w = 0; w < WRITERS; w++) {
        int status = -1;
        while (waitpid(writer[w], &status, WNOHANG) == 0) {
            assert_ok(ctx, tk_certificate_read(ctx, path, &read)); /* intact at any time */
            tk_certificate_destroy(read);
        }
        assert_int_equal(status, 0);
    }
    assert_ok(ctx, tk_certificate_read(ctx, path, &read));
    tk_certificate_destroy(read);
    assert_int_equal(entries("shared"), 2);
    free(path);
    tk_certificate_destroy(certificate);
}

/* -- Members by path -------------------------------------------------------------------------------------------------------- */

TEST(members_by_path)
{
    tk_certificate c = {.predicate = json_pack("{s:s, s:{s:i, s:s, s:s, s:f}}", "a", "text", "b", "n", 7, "inf",
                                               "infinity", "odd", "nan", "r", 2.5)};
    assert_string_equal(tki_certificate_text(&c, "a"), "text");
    assert_string_equal(tki_certificate_text(&c, "b"), "");
    assert_string_equal(tki_certificate_text(&c, "a.b.c"), "");
    assert_string_equal(tki_certificate_text(&c, "nothing"), "");
    assert_int_equal(tki_certificate_integer(&c, "b.n"), 7);
    assert_int_equal(tki_certificate_integer(&c, "a"), 0);
    assert_true(tki_certificate_real(&c, "b.r") == 2.5);
    assert_true(tki_certificate_real(&c, "b.n") == 7);
    assert_true(isinf(tki_certificate_real(&c, "b.inf")));
    assert_true(isnan(tki_certificate_real(&c, "b.odd")));
    char long_path[200];
    memset(long_path, 'x', 199);
    long_path[199] = 0;
    assert_null(tki_certificate_get(&c, long_path));
    assert_int_equal(tk_certificate_verdict(&c), TK_UNKNOWN);
    json_decref(c.predicate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_was_found),
        cmocka_unit_test(headlines_say_what_the_verdict_is_about),
        cmocka_unit_test(the_first_form_is_read),
        cmocka_unit_test(the_headline_is_everywhere),
        cmocka_unit_test(headlines_say_how_wrong),
        cmocka_unit_test(foreign_text_stays_in_its_cell),
        cmocka_unit_test(no_text_from_outside_is_markup),
        ENTERED(round_trip),
        cmocka_unit_test(one_line),
        cmocka_unit_test(every_changed_byte_is_refused),
        cmocka_unit_test(malformed_texts),
        ENTERED(files_that_are_not_certificates),
        cmocka_unit_test(wrong_types_are_refused_or_shown),
        ENTERED(written_to_the_state_directory),
        ENTERED(write_errors_leave_nothing),
        ENTERED(two_processes_write_the_same_certificate),
        cmocka_unit_test(members_by_path),
    };
    return cmocka_run_group_tests_name("certificate", tests, NULL, NULL);
}
