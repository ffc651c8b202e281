/* tokitai diff: what changed between two certificates? Dates, times and paths are not compared. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { KEY_JSON = 256 };

typedef struct arguments {
    const char *files[2];
    int count;
    bool json;
} arguments;

static const struct argp_option option_list[] = {
    {"json", KEY_JSON, NULL, 0, "Print JSON instead of text", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_JSON: a->json = true; return 0;
    case ARGP_KEY_ARG:
        if (a->count == 2)
            argp_error(state, "two certificates, no more");
        else
            a->files[a->count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->count < 2)
            argp_error(state, "which certificates? give two files");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "CERT CERT",
    .doc =
        "Says what changed from the first certificate to the second: subject, contract, source, compiler, options, "
        "artifact, device, driver, level, verdict, and the output bits of the trials that both have. Dates, times "
        "and paths do not count. Signatures are not verified; 'tokitai check --key' does that."
        "\vExit status: 0 nothing that matters differs, 1 something does, 2 one is not a certificate, was altered "
        "or could not be read.",
};

/* What is compared, by its path in the predicate; in the order in which it explains what comes after it. */
static const struct {
    const char *what;
    const char *path;
} members[] = {
    {"subject", "run.subject"},
    {"kind", "run.kind"},
    {"op", "run.op"},
    {"dtype", "run.dtype"},
    {"index type", "run.index_dtype"},
    {"bound", "contract.bound"},
    {"formula", "contract.formula"},
    {"tokitai", "tokitai"},
    {"source", "built.source"},
    {"source SHA-256", "built.source_sha256"},
    {"compiler", "built.compiler"},
    {"options", "built.options"},
    {"artifact SHA-256", "built.artifact_sha256"},
    {"backend", "machine.backend"},
    {"device", "machine.device"},
    {"architecture", "machine.architecture"},
    {"device UUID", "machine.uuid"},
    {"units", "machine.units"},
    {"host", "machine.host"},
    {"features", "machine.features"},
    {"driver", "machine.driver"},
    {"level", "run.level"},
    {"seed", "run.seed"},
    {"numerics", "run.numerics"},
    {"domain", "run.domain"},
    {"shape", "run.shape"},
    {"family", "run.family"},
    {"options", "run.options"},
    {"inputs", "run.inputs"},
    {"verdict", "verdict"},
    {"grade", "result.refutation.grade"},
    {"wrong elements", "result.refutation.elements"},
    {"reason", "reason"},
    {"determinism", "result.determinism"},
    {"worst ulp", "result.worst_ulp"},
    {"bound used", "result.bound_used"},
};

/* The member of an object by dotted path, or NULL. */
static const json_t *member(const json_t *at, const char *path)
{
    while (at && *path) {
        size_t length = strcspn(path, ".");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        at = json_object_get(at, name);
        path += length + (path[length] == '.');
    }
    return at;
}

/* json_equal() takes an absent one for unequal to another absent one. */
static bool same(const json_t *a, const json_t *b)
{
    return a && b ? json_equal(a, b) : a == b;
}

/* JSON's null stands for a member that is absent. */
static json_t *copy_or_null(const json_t *value)
{
    return value ? json_deep_copy(value) : json_null();
}

static void add_difference(json_t *list, const char *what, const json_t *first, const json_t *second)
{
    json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "what", cli_json_text(what), "first",
                                          copy_or_null(first), "second", copy_or_null(second)));
}

static const json_t *find_clause(const json_t *clauses, const char *id)
{
    for (size_t i = 0; id && i < json_array_size(clauses); i++) {
        const json_t *clause = json_array_get(clauses, i);
        const char *other = json_string_value(json_object_get(clause, "id"));
        if (other && !strcmp(other, id))
            return clause;
    }
    return NULL;
}

/* Clauses whose text or verdict is not that of the other certificate; with `missing_only`, those that it has not. */
static void compare_clauses(const json_t *from, const json_t *to, bool missing_only, json_t *list)
{
    for (size_t i = 0; i < json_array_size(from); i++) {
        const json_t *clause = json_array_get(from, i);
        const char *id = json_string_value(json_object_get(clause, "id"));
        const json_t *other = find_clause(to, id);
        if (!id)
            continue;
        if (missing_only && !other)
            add_difference(list, id, NULL, json_object_get(clause, "verdict"));
        if (missing_only)
            continue;
        static const char *const parts[] = {"text", "verdict"};
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            const json_t *here = json_object_get(clause, parts[p]);
            const json_t *there = json_object_get(other, parts[p]);
            if (!same(here, there) && (other || p > 0))
                add_difference(list, id, here, there);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Output bits, trial by trial
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct bits {
    int same;
    int different;
    int only_first;
    int only_second;
    const json_t *example; /* the first trial of other bits, as the first certificate has it; or NULL */
} bits;

/* What a trial ran on, as text; free() it. Everything but what came out. */
static char *trial_name(const json_t *trial)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)trial);
    json_object_del(copy, "output_sha256");
    char *text = copy ? json_dumps(copy, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    json_decref(copy);
    return text;
}

/* Trials by what they ran on, in a JSON object; NULL when memory ran out. Of equal ones the first counts. */
static json_t *index_trials(const json_t *trials)
{
    json_t *index = json_object();
    for (size_t i = 0; index && i < json_array_size(trials); i++) {
        json_t *trial = json_array_get(trials, i);
        char *name = trial_name(trial);
        bool good = name && (json_object_get(index, name) || !json_object_set(index, name, trial));
        free(name);
        if (!good) {
            json_decref(index);
            return NULL;
        }
    }
    return index;
}

static bool compare_bits(const json_t *first, const json_t *second, bits *result)
{
    json_t *a = index_trials(first);
    json_t *b = index_trials(second);
    const char *name;
    json_t *trial;
    bool good = a && b;
    if (good) {
        json_object_foreach(a, name, trial)
        {
            const json_t *other = json_object_get(b, name);
            if (!other) {
                result->only_first++;
            } else if (same(json_object_get(trial, "output_sha256"), json_object_get(other, "output_sha256"))) {
                result->same++;
            } else {
                result->different++;
                result->example = result->example ? result->example : trial;
            }
        }
        json_object_foreach(b, name, trial) result->only_second += json_object_get(a, name) == NULL;
    }
    json_decref(a);
    json_decref(b);
    return good;
}

/* ------------------------------------------------------------------------------------------------------------
 * Output
 * ------------------------------------------------------------------------------------------------------------ */

static void print_value(const char *mark, const json_t *value)
{
    char *text = json_is_string(value) ? strdup(json_string_value(value))
                                       : json_dumps(value, JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    fputs(mark, stdout);
    cli_print(CLI_PLAIN, json_is_null(value) ? "(none)" : text ? text : "?");
    putchar('\n');
    free(text);
}

static void print_text(const json_t *list, const bits *b)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *difference = json_array_get(list, i);
        cli_print(CLI_BOLD, json_string_value(json_object_get(difference, "what")));
        putchar('\n');
        print_value("  - ", json_object_get(difference, "first"));
        print_value("  + ", json_object_get(difference, "second"));
    }
    cli_print(CLI_BOLD, "output bits");
    printf(": %d trial%s the same, %d different", b->same, b->same == 1 ? "" : "s", b->different);
    if (b->only_first + b->only_second > 0)
        printf(", %d only in the first, %d only in the second", b->only_first, b->only_second);
    putchar('\n');
    if (b->example) {
        char *name = trial_name(b->example);
        fputs("  first of them: ", stdout);
        cli_print(CLI_PLAIN, name ? name : "?");
        putchar('\n');
        free(name);
    }
}

static cli_exit print_json(const arguments *a, json_t *list, const bits *b, bool differs)
{
    json_t *trials = json_pack("{s:i, s:i, s:i, s:i}", "same", b->same, "different", b->different, "only_first",
                               b->only_first, "only_second", b->only_second);
    return cli_print_json(json_pack("{s:o, s:o, s:b, s:O, s:o}", "first", cli_json_text(a->files[0]), "second",
                                    cli_json_text(a->files[1]), "same", !differs, "differences", list, "trials",
                                    trials));
}

static cli_exit compare(const char *who, const arguments *a, json_t *const statements[2])
{
    const json_t *first = json_object_get(statements[0], "predicate");
    const json_t *second = json_object_get(statements[1], "predicate");
    json_t *list = json_array();
    bits b = {0};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *before = member(first, members[i].path);
        const json_t *after = member(second, members[i].path);
        if (!same(before, after))
            add_difference(list, members[i].what, before, after);
    }
    compare_clauses(member(first, "clauses"), member(second, "clauses"), false, list);
    compare_clauses(member(second, "clauses"), member(first, "clauses"), true, list);
    if (!list || !compare_bits(member(first, "run.trials"), member(second, "run.trials"), &b)) {
        json_decref(list);
        cli_complain(who, "out of memory");
        return CLI_UNKNOWN;
    }
    bool differs = json_array_size(list) > 0 || b.different + b.only_first + b.only_second > 0;
    cli_exit result = differs ? CLI_REFUTED : CLI_HOLDS;
    if (a->json)
        result = cli_worse(result, print_json(a, list, &b, differs));
    else
        print_text(list, &b);
    json_decref(list);
    return result;
}

/* The statement of an intact certificate, or NULL after a complaint. */
static json_t *read_statement(const char *who, tk_ctx *ctx, const char *file, cli_exit *result)
{
    tk_certificate *certificate = NULL;
    tk_status status = tk_certificate_read(ctx, file, &certificate);
    if (status != TK_OK) {
        cli_complain(who, "%s%s", status == TK_BAD_FILE ? "not intact: " : "", tk_ctx_message(ctx));
        *result = cli_worse(*result, cli_exit_of(status, CLI_BAD));
        return NULL;
    }
    const char *text = tk_certificate_json(certificate);
    json_t *statement = text ? json_loads(text, 0, NULL) : NULL;
    tk_certificate_destroy(certificate);
    if (!statement) {
        cli_complain(who, "out of memory");
        *result = cli_worse(*result, CLI_UNKNOWN);
    }
    return statement;
}

cli_exit cli_diff(int argc, char **argv)
{
    arguments a = {0};
    if (cli_parse(&command, argc, argv, 0, &a) != 0)
        return CLI_BAD;
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_exit result = CLI_HOLDS;
    json_t *statements[2];
    for (int i = 0; i < 2; i++)
        statements[i] = read_statement(argv[0], ctx, a.files[i], &result);
    if (statements[0] && statements[1])
        result = compare(argv[0], &a, statements);
    json_decref(statements[0]);
    json_decref(statements[1]);
    tk_ctx_destroy(ctx);
    return result;
}
