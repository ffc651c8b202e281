/* SHOWS. tokitai report: a page about certificates, to look at. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "glue/glue.h"

typedef struct arguments {
    cli_words files;
    const char *output;
} arguments;

static const cli_option option_list[] = {CLI_OUTPUT("FILE.html", "File to write instead of standard output"), {0}};

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
        refuse(who, entry, "a certificate of 'tokitai glue', of files and not of a kernel; run 'tokitai check'");
        return CLI_HOLDS;
    }
    tk_status status = tk_certificate_read(ctx, file, &entry->certificate);
    if (status != TK_OK) {
        refuse(who, entry, tk_ctx_message(ctx));
        return cli_exit_of(status, CLI_REFUTED);
    }
    return CLI_HOLDS;
}

static cli_exit write_page(const char *who, const char *output, const char *page)
{
    FILE *file = output ? cli_create(output) : stdout;
    bool written = file && fputs(page, file) >= 0;
    written = (!output || (file && !fclose(file))) && written;
    if (written)
        return CLI_HOLDS;
    cli_complain(who, "cannot write '%.200s': %s", output ? output : "standard output", strerror(errno));
    return CLI_BAD;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {0};
    cli_parse(&cli_report, argc, argv, &a);
    if (!cli_can_write(argv[0], "--output", a.output))
        return CLI_BAD;
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_exit result = CLI_HOLDS;
    tk_report_entry *entries = calloc((size_t)a.files.count, sizeof *entries);
    char *page = NULL;
    for (int i = 0; entries && i < a.files.count; i++)
        result = cli_worse(result, read_entry(argv[0], ctx, a.files.list[i], &entries[i]));
    if (entries && tk_report_html(ctx, entries, a.files.count, &page) == TK_OK) {
        result = cli_worse(result, write_page(argv[0], a.output, page));
    } else {
        cli_complain(argv[0], "%s", entries ? tk_ctx_message(ctx) : "out of memory");
        result = CLI_UNKNOWN;
    }
    free(page);
    for (int i = 0; entries && i < a.files.count; i++) {
        tk_certificate_destroy(entries[i].certificate);
        free((char *)(uintptr_t)entries[i].problem);
    }
    free(entries);
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_report = {
    .name = "report",
    .summary = "write an HTML page about certificates",
    .arguments = "CERT...",
    .words = offsetof(arguments, files),
    .options = option_list,
    .run = run,
    .doc = "Writes one HTML page about the certificates, which needs no network: an overview of the verdicts; for "
           "each certificate what was run, error histograms, errors and shares of the bound by binades of the input "
           "or of the exact value, the element that refutes a kernel and the worst element on a number line, the "
           "reproducing command, clauses and what they rest on, mutants, sources, compilers and devices, evidence "
           "and non-claims; and what changed from each certificate to the next of the same op and subject."
           "\vA file that is not a certificate, was altered or contradicts itself is named on the page and not "
           "shown. Certificates of 'tokitai glue' are named and not shown. "
           "Signatures are not verified; 'tokitai check --key' does that.\n\n"
           "Exit status: 0 all are shown; 1 one was altered or damaged, or contradicts itself; 2 one could not be "
           "read, or the page could not be written.",
};
