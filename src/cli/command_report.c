/* tokitai report: a page about certificates, to look at. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "glue/glue.h"

typedef struct arguments {
    char **files; /* [count], into argv */
    int count;
    const char *output;
} arguments;

static const struct argp_option option_list[] = {
    {"output", 'o', "FILE", 0, "Write the page to FILE instead of standard output", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case 'o':
        if (a->output)
            argp_error(state, "--output is given twice");
        a->output = argument;
        return 0;
    case ARGP_KEY_ARGS:
        a->files = state->argv + state->next;
        a->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which certificates? give at least one file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "CERT...",
    .doc = "Writes one HTML page about certificates that needs no network: verdicts, error histograms, errors by "
           "input, the share "
           "of the bound used, the element that refutes a kernel on the number line, clauses, mutants, sources and "
           "devices. Of "
           "certificates of the same op and subject it shows what changed from each to the next."
           "\vExit status: 0 all are shown; 1 one was altered or damaged, or contradicts itself, which the page "
           "says; 2 one could "
           "not be read, or the page not be written.",
};

/* What is wrong with a file: standard error says it, and the page. Messages about files begin with their names. */
static void refuse(const char *who, tk_report_entry *entry, const char *message)
{
    const size_t length = strlen(entry->name);
    const bool named = !strncmp(message, entry->name, length) && !strncmp(message + length, ": ", 2);
    cli_complain(who, "%s%s%s", named ? "" : entry->name, named ? "" : ": ", message);
    entry->problem = strdup(named ? message + length + 2 : message);
}

static cli_exit read_entry(const char *who, tk_ctx *ctx, const char *file, tk_report_entry *entry)
{
    entry->name = file;
    if (tki_is_glue_certificate(ctx, file)) {
        refuse(who, entry,
               "a certificate of 'tokitai glue', about files and not about a kernel; 'tokitai check' reads it");
        return CLI_HOLDS;
    }
    tk_status status = tk_certificate_read(ctx, file, &entry->certificate);
    if (status != TK_OK) {
        refuse(who, entry, tk_ctx_message(ctx));
        return cli_exit_of(status, CLI_REFUTED);
    }
    status = tk_certificate_agrees(ctx, entry->certificate);
    if (status != TK_OK)
        cli_complain(who, "not trusted: %s: %s", file, tk_ctx_message(ctx));
    return cli_exit_of(status, CLI_REFUTED);
}

static cli_exit write_page(const char *who, const char *output, const char *page)
{
    FILE *file = output ? fopen(output, "we") : stdout;
    bool written = file && fputs(page, file) >= 0;
    written = (!output || (file && !fclose(file))) && written;
    if (written)
        return CLI_HOLDS;
    cli_complain(who, "cannot write '%.200s': %s", output ? output : "standard output", strerror(errno));
    return CLI_BAD;
}

cli_exit cli_report(int argc, char **argv)
{
    arguments a = {0};
    if (cli_parse(&command, argc, argv, 0, &a) != 0 || !cli_can_write(argv[0], "--output", a.output))
        return CLI_BAD;
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_exit result = CLI_HOLDS;
    tk_report_entry *entries = calloc((size_t)a.count, sizeof *entries);
    char *page = NULL;
    for (int i = 0; entries && i < a.count; i++)
        result = cli_worse(result, read_entry(argv[0], ctx, a.files[i], &entries[i]));
    if (entries && tk_report_html(ctx, entries, a.count, &page) == TK_OK) {
        result = cli_worse(result, write_page(argv[0], a.output, page));
    } else {
        cli_complain(argv[0], "%s", entries ? tk_ctx_message(ctx) : "out of memory");
        result = CLI_UNKNOWN;
    }
    free(page);
    for (int i = 0; entries && i < a.count; i++) {
        tk_certificate_destroy(entries[i].certificate);
        free((char *)(uintptr_t)entries[i].problem);
    }
    free(entries);
    tk_ctx_destroy(ctx);
    return result;
}
