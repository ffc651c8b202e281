/* SHOWS. tokitai diff: what changed between two certificates? Dates, times and paths are not compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct arguments {
    cli_words files;
    bool json;
} arguments;

static const cli_option option_list[] = {CLI_JSON, {0}};

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

static long long count_of(const json_t *trials, const char *name)
{
    return (long long)json_integer_value(json_object_get(trials, name));
}

static void print_text(const json_t *difference)
{
    const json_t *list = json_object_get(difference, "differences"), *trials = json_object_get(difference, "trials");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        cli_print(CLI_BOLD, json_string_value(json_object_get(item, "what")));
        putchar('\n');
        print_value("  - ", json_object_get(item, "first"));
        print_value("  + ", json_object_get(item, "second"));
    }
    cli_print(CLI_BOLD, "output bits");
    const long long same = count_of(trials, "same"), only_first = count_of(trials, "only_first");
    const long long only_second = count_of(trials, "only_second");
    printf(": %lld trial%s the same, %lld different", same, same == 1 ? "" : "s", count_of(trials, "different"));
    if (only_first + only_second > 0)
        printf(", %lld only in the first, %lld only in the second", only_first, only_second);
    putchar('\n');
    const json_t *example = json_array_get(json_object_get(trials, "examples"), 0);
    if (example) {
        json_t *trial = json_copy(json_object_get(example, "trial"));
        json_object_del(trial, "output_sha256");
        print_value("  first of them: ", trial);
        json_decref(trial);
    }
}

static cli_exit show(const char *who, const arguments *a, json_t *difference)
{
    const bool same = json_is_true(json_object_get(difference, "same"));
    const cli_exit result = same ? CLI_HOLDS : CLI_REFUTED;
    if (!difference) {
        cli_complain(who, "out of memory");
        return CLI_UNKNOWN;
    }
    if (!a->json) {
        print_text(difference);
        json_decref(difference);
        return result;
    }
    json_object_set_new(difference, "first", cli_json_text(a->files.list[0]));
    json_object_set_new(difference, "second", cli_json_text(a->files.list[1]));
    return cli_worse(result, cli_print_json(difference));
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {0};
    cli_parse(&cli_diff, argc, argv, &a);
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_exit result = CLI_HOLDS;
    tk_certificate *certificates[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        tk_status status = tk_certificate_read(ctx, a.files.list[i], &certificates[i]);
        if (status == TK_OK)
            continue;
        cli_complain(argv[0], "%s%s", status == TK_BAD_FILE ? "not intact: " : "", tk_ctx_message(ctx));
        result = cli_worse(result, cli_exit_of(status, CLI_BAD));
    }
    if (certificates[0] && certificates[1]) {
        char *text = NULL;
        tk_status status = tk_certificate_diff(ctx, certificates[0], certificates[1], &text);
        result = show(argv[0], &a, status == TK_OK ? json_loads(text, 0, NULL) : NULL);
        free(text);
    }
    tk_certificate_destroy(certificates[0]);
    tk_certificate_destroy(certificates[1]);
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_diff = {
    .name = "diff",
    .summary = "show what changed between two certificates",
    .arguments = "CERT CERT",
    .words = offsetof(arguments, files),
    .options = option_list,
    .run = run,
    .doc =
        "Shows what changed from the first certificate to the second: subject, contract, source, compiler, options, "
        "artifact, device, driver, level, seed, verdict of the whole and of each clause, largest error, and, trial "
        "by trial, the output bits. With --json, the first 32 trials whose output bits differ are listed. Dates, "
        "times and paths are not compared. Signatures are not verified; 'tokitai check --key' does that."
        "\vExit status: 0 nothing that is compared differs; 1 something does; 2 one is not a certificate, was "
        "altered, contradicts itself or could not be read.",
};
