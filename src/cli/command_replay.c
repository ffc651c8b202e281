/* tokitai replay: does a certificate still hold on this machine? */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/limit_options.h"
#include "cli/parse.h"

enum { KEY_JSON = 256, KEY_KERNEL, KEY_INCLUDE, KEY_COMPILER, KEY_FLAGS, KEY_TIMEOUT, KEY_TRIAL_MEMORY };

typedef struct arguments {
    const char *file;
    tk_replay_options options;
    cli_limits limits;
    bool json;
} arguments;

static const struct argp_option option_list[] = {
    {"kernel", KEY_KERNEL, "FILE", 0,
     "The kernel file, where the certificate is of one: your own copy instead of the path that it names. Any other "
     "file "
     "than the one that was judged is refused, by its SHA-256",
     0},
    {"include", KEY_INCLUDE, "DIR", 0, "Its folders of headers, separated by colons, where it has some", 0},
    {"compiler", KEY_COMPILER, "PATH", 0,
     "Compile it with this. Without, the compiler that the certificate names is taken if it is the plain name of a "
     "compiler in /usr/bin, /usr/local/bin, /usr/local/cuda/bin or /opt/rocm/bin",
     0},
    {"flags", KEY_FLAGS, "FLAGS", 0,
     "The certificate's own flags, repeated: asked for where one of them could do more than compile", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "The most that a call may take, also where the certificate gives it longer; 60", 0},
    {"trial-memory", KEY_TRIAL_MEMORY, "SIZE", 0,
     "The most memory that a trial may need, here and in a kernel file's process: 4G; half of what is available", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON instead of text", 0},
    {0},
};

static double seconds(struct argp_state *state, const char *text)
{
    float value = 0;
    if (!cli_parse_float(text, &value) || value < 0.01f || value > 86400)
        argp_error(state, "--timeout '%.80s' is not a number from 0.01 to 86400", text);
    return (double)value;
}

static double gib(struct argp_state *state, const char *text)
{
    int64_t bytes = 0;
    if (!cli_parse_size(text, &bytes))
        argp_error(state, "--trial-memory '%.80s' is not a size: 512M, 4G", text);
    return (double)bytes / 0x1p30;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->limits; return 0;
    case KEY_JSON: a->json = true; return 0;
    case KEY_KERNEL: a->options.kernel = argument; return 0;
    case KEY_INCLUDE: a->options.include = argument; return 0;
    case KEY_COMPILER: a->options.compiler = argument; return 0;
    case KEY_FLAGS: a->options.flags = argument; return 0;
    case KEY_TIMEOUT: a->options.call_seconds = seconds(state, argument); return 0;
    case KEY_TRIAL_MEMORY: a->options.memory_gib = gib(state, argument); return 0;
    case ARGP_KEY_ARG:
        if (a->file)
            argp_error(state, "one certificate at a time, please");
        a->file = argument;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which certificate?"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&cli_limits_parser, 0, "What foreign code may have, whatever the certificate says:", 1}, {0}};

static const struct argp command = {
    .options = option_list,
    .children = children,
    .parser = parse_option,
    .args_doc = "CERT",
    .doc = "Runs again, on this machine, everything that a certificate says was run, and compares the hash of every "
           "output, the verdict, clauses, counts, errors and contract with those recorded. Trials of its level that "
           "it does not list are run too, and must "
           "hold."
           "\vExit status: 0 all came out as recorded, 1 something did not, 2 the certificate cannot be read or was "
           "altered, 3 it cannot be replayed here.",
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
    const char *difference = o->difference ? o->difference : "it gives no description";
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
    tk_replay_options options = a->options;
    options.limits = a->limits.limits;
    options.total_seconds = a->limits.total_seconds;
    options.allow_weak_sandbox = a->limits.allow_weak_sandbox;
    options.progress = cli_progress_update;
    options.progress_data = &progress;
    status = tk_certificate_replay(ctx, certificate, &options, &o.same, &o.not_listed, &o.difference);
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

cli_exit cli_replay(int argc, char **argv)
{
    arguments a = {.options = TK_REPLAY_DEFAULTS};
    if (cli_parse(&command, argc, argv, 0, &a) != 0)
        return CLI_BAD;
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_show_notes(ctx, argv[0]);
    cli_exit result = replay(argv[0], ctx, &a);
    tk_ctx_destroy(ctx);
    return result;
}
