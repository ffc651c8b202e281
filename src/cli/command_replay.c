/* SHOWS. tokitai replay: does a certificate still hold on this machine? */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

typedef struct arguments {
    cli_words words;
    const char *file, *kernel, *include, *compiler, *flags;
    double timeout, total_seconds;
    int64_t trial_memory;
    cli_limits limits;
    bool json;
} arguments;

static const cli_option option_list[] = {
    CLI_KERNEL_FILE(", your own copy instead of the path that the certificate names. A file with another SHA-256 "
                    "than the recorded one is refused before it is compiled"),
    CLI_INCLUDE(". A kernel that is a directory, and directories of headers, are not looked up where the certificate "
                "names them"),
    CLI_COMPILER(". Default: the one that the certificate names, if it is the plain name of a compiler in /usr/bin, "
                 "/usr/local/bin, /usr/local/cuda/bin or /opt/rocm/bin"),
    CLI_COMPILER_FLAGS(
        ": those of the certificate, repeated. Required, and shown, if one of them is not known to be harmless"),
    CLI_TIMEOUT(". The certificate may have a shorter one, not a longer one"),
    CLI_ROW(CLI_SIZE, "trial-memory", "SIZE", trial_memory,
            "Memory limit of a trial, such as 4G. Default: half of what is available"),
    CLI_JSON,
    CLI_HEADING("Limits of the kernel file; lower ones in the certificate apply, higher ones do not:"),
    CLI_TOTAL_TIMEOUT(". When it expires the exit status is 3"),
    {.kind = CLI_ROWS, .rows = cli_limit_options, .place = offsetof(arguments, limits)},
    {0},
};

typedef struct outcome {
    bool same;
    int64_t not_listed;
    char *difference; /* or NULL */
    double seconds;
} outcome;

static cli_exit print_outcome(const tk_certificate *certificate, const arguments *a, const outcome *o)
{
    const char *verdict = tk_verdict_name(tk_certificate_verdict(certificate));
    const char *subject = tk_certificate_subject(certificate);
    const char *difference = o->difference ? o->difference : "no description";
    cli_exit result = o->same ? CLI_HOLDS : CLI_REFUTED;
    if (a->json) {
        json_t *item = json_pack("{s:o, s:o, s:s, s:o, s:b, s:f}", "file", cli_json_text(a->file), "subject",
                                 cli_json_text(subject), "verdict", verdict, "headline",
                                 cli_json_text(tk_certificate_headline(certificate)), "same", (int)o->same, "seconds",
                                 o->seconds);
        if (o->same)
            json_object_set_new(item, "not_listed", json_integer(o->not_listed));
        else
            json_object_set_new(item, "difference", cli_json_text(difference));
        return cli_worse(result, cli_print_json(item));
    }
    cli_print(CLI_PLAIN, subject);
    printf(": ");
    cli_print(o->same ? CLI_GOOD : CLI_WRONG, o->same ? "same" : "DIFFERENT");
    if (o->same) {
        const char *scope = tk_certificate_scope(certificate);
        printf("; verdict %s%s", verdict, scope[0] ? " " : "");
        cli_print(CLI_PLAIN, scope);
        printf(" and every output hash as recorded");
        if (o->not_listed == 1)
            printf("; 1 trial that the certificate does not list holds too");
        else if (o->not_listed)
            printf("; %lld trials that the certificate does not list hold too", (long long)o->not_listed);
        printf(", %.1f s\n", o->seconds);
        return result;
    }
    printf(" from the certificate\n  ");
    cli_wrap(2, 2, difference);
    return result;
}

static cli_exit replay(const char *who, tk_ctx *ctx, const arguments *a)
{
    tk_certificate *certificate = NULL;
    tk_status status = tk_certificate_read(ctx, a->file, &certificate);
    if (status != TK_OK) {
        cli_complain(who, "%s%s", status == TK_BAD_FILE ? "not intact: " : "", tk_ctx_message(ctx));
        return cli_exit_of(status, CLI_BAD);
    }
    outcome o = {0};
    cli_progress progress = cli_progress_begin(1);
    tk_replay_options recipe = TK_REPLAY_DEFAULTS;
    recipe.kernel = a->kernel;
    recipe.include = a->include;
    recipe.compiler = a->compiler;
    recipe.flags = a->flags;
    if (a->timeout > 0)
        recipe.call_seconds = a->timeout;
    if (a->trial_memory)
        recipe.memory_gib = (double)a->trial_memory / 0x1p30;
    recipe.limits = a->limits.limits;
    recipe.total_seconds = a->total_seconds;
    recipe.allow_weak_sandbox = a->limits.allow_weak_sandbox;
    recipe.progress = cli_progress_update;
    recipe.progress_data = &progress;
    status = tk_certificate_replay(ctx, certificate, &recipe, &o.same, &o.not_listed, &o.difference);
    o.seconds = cli_seconds() - progress.start;
    cli_progress_clear(&progress);
    cli_exit result = cli_exit_of(status, CLI_BAD);
    if (status == TK_OK)
        result = print_outcome(certificate, a, &o);
    else
        cli_complain(who, "%s: %s%s: %s", a->file, result == CLI_UNKNOWN ? "UNKNOWN: " : "", tk_status_text(status),
                     tk_ctx_message(ctx));
    free(o.difference);
    tk_certificate_destroy(certificate);
    return result;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {0};
    cli_parse(&cli_replay, argc, argv, &a);
    a.file = a.words.list[0];
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_show_notes(ctx, argv[0]);
    cli_exit result = replay(argv[0], ctx, &a);
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_replay = {
    .name = "replay",
    .summary = "repeat on this machine what a certificate says was run",
    .arguments = "CERT",
    .words = offsetof(arguments, words),
    .options = option_list,
    .run = run,
    .doc = "Repeats on this machine everything that a certificate says was run, and compares the hash of every "
           "output, the verdict, clauses, counts, errors, the contract and what was run with those recorded. Trials "
           "that this version makes for the same level but that the certificate does not list are run too and must "
           "hold; they are counted. A listed trial that this version does not make is a difference."
           "\vThe certificate may be untrusted: nothing that it names runs outside the sandbox, and the options "
           "above determine what it may ask for.\n\n"
           "Exit status: 0 everything matches the record; 1 something differs; 2 the certificate cannot be read, "
           "was altered or contradicts itself; 3 it cannot be replayed here.",
};
