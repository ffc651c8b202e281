/* tokitai certify: judge kernels against an exact oracle and write certificates. First every argument is turned into a
 * list of jobs, then the jobs are run; an argument error is found before anything is run. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_certify.h"
#include "cli/verdict.h"
#include "core/escape.h"

/* ------------------------------------------------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------------------------------------------------ */

static const struct argp_option option_list[] = {
    {NULL, 0, NULL, 0, "What is judged:", 1},
    {"backend", KEY_BACKEND, "NAME", 0, "Where it runs: cpu (the default), cuda, hip; cuda:1 is the second device",
     1},
    {"lowering", KEY_LOWERING, "ID", 0,
     "This implementation, such as cpu.gelu_bwd.f16.scalar; best: the first that the machine takes; slowest: the "
     "last; "
     "all: every one. The default is all, and best at level exhaustive",
     1},
    {"dtype", KEY_DTYPE, "TYPE", 0,
     "f16, bf16, f32, f16-f32, bf16-f32 (results in f32), first (the first that an op has) or all (the default): of "
     "a "
     "kernel file or program f16 and bf16",
     1},
    {"index", KEY_INDEX, "TYPE", 0,
     "i32, i64 or all, for ops that take an index; all is the default, i32 with --shape", 1},
    {"mutant", KEY_MUTANT, "NAME", 0, "A mutant of the op, a kernel that is wrong on purpose, instead of a real one",
     1},
    {"variant", KEY_VARIANT, "NAME", 0, "A planted correct kernel that computes in another way than ours", 1},
    {"kernel", KEY_KERNEL, "FILE", 0,
     "A kernel of your own: .c, .cpp, .cu, .hip or .so, or a folder with kernel.c and what it includes, for the ops "
     "given or all that it defines; 'tokitai ops OP' "
     "prints "
     "its declaration, 'tokitai new-kernel OP' writes one",
     1},
    {"kernels", KEY_KERNELS, "DIR", 0, "Every such file in a directory; mutants are not run", 1},
    {"program", KEY_PROGRAM, "COMMAND", 0,
     "A program that answers binary frames (docs/protocol.md) with kernels of its own, in any language; it is not "
     "sandboxed",
     1},
    {"compiler", KEY_COMPILER, "CC", 0, "Of kernel files; the default is cc, c++, nvcc or hipcc", 1},
    {"flags", KEY_FLAGS, "FLAGS", 0,
     "Of that compiler instead of -O2; nvcc is also told the device's architecture unless they name one", 1},
    {"include", KEY_INCLUDE, "DIRS", 0, "Folders of headers for kernel files, separated by colons; copied and hashed",
     1},

    {NULL, 0, NULL, 0, "Effort and limits:", 2},
    {"level", KEY_LEVEL, "LEVEL", 0, "quick (the default), full, or exhaustive: every input where that can be done",
     2},
    {"seed", KEY_SEED, "NUMBER", 0,
     "Of all that is drawn; decimal or 0x. For kernel files and programs the default is drawn anew each time", 2},
    {"skip-mutants", KEY_SKIP_MUTANTS, NULL, 0, "Do not run the mutants", 2},
    {"fresh-mutants", KEY_FRESH_MUTANTS, NULL, 0,
     "Run the mutants also where the cache directory has this build's verdicts on them", 2},
    {"keep-going", KEY_KEEP_GOING, NULL, 0,
     "Run the other trials too when one has failed, to tell how wrong a kernel is: how many elements, how far off",
     2},
    {"sanitize", KEY_SANITIZE, NULL, 0,
     "Run small trials of CUDA kernel files under the tools of compute-sanitizer, where it is found: races, reads "
     "outside "
     "the arrays; the default at level full",
     2},
    {"no-sanitize", KEY_NO_SANITIZE, NULL, 0, "Never use compute-sanitizer", 2},
    {"no-coverage", KEY_NO_COVERAGE, NULL, 0,
     "Kernel files: do not let what an instrumented build executes decide what else is tried", 2},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "Of one call of a kernel file or a program; 60 is the default", 2},
    {"jobs", KEY_JOBS, "COUNT", 0, "Kernel files that are judged in parallel; 1 is the default", 2},
    {"threads", KEY_THREADS, "COUNT", 0,
     "Of every call of a kernel; 0, the default, is 1, 2, 3, 4, 5, 8 and 16 in turn, whatever this machine has", 2},
    {"alignment", KEY_ALIGNMENT, "BYTES", 0,
     "Of every array of every call: a power of two up to 256; 0, the default, is all of these in turn, and the "
     "begin and the end of a page",
     2},

    {NULL, 0, NULL, 0, "Only this case:", 4},
    {"shape", KEY_SHAPE, "SIZES", 0, "Such as n=257, m=3,n=4,k=5 or 16x33", 4},
    {"family", KEY_FAMILY, "NAME", 0, "One family of inputs; 'tokitai ops --families' lists them", 4},
    {"input", KEY_INPUT, "NAME=BITS,...", 0,
     "One input element by element, as 0x3c00; with --shape, once for each input", 4},
    {"plant", KEY_PLANT, "VALUES", 0,
     "Up to eight patterns of elements, or indices, put among the inputs, with --shape: 0x4242,7", 4},

    {NULL, 0, NULL, 0, "Output:", 5},
    {"out", KEY_OUT, "DIR", 0, "Write certificates (JSON and Markdown) to DIR instead of the state directory", 5},
    {"sign", KEY_SIGN, "KEY", 0,
     "Also write each as a signed envelope, NAME.dsse.json; KEY is a private key that 'tokitai keygen' made", 5},
    {"json-lines", KEY_JSON_LINES, "FILE", 0,
     "Kernel files: also write a line of JSON for each result as it comes; - is standard output, instead of the "
     "table",
     5},
    {"junit", KEY_JUNIT, "FILE", 0, "Kernel files: also write the results as JUnit XML", 5},
    {"json", KEY_JSON, NULL, 0, "Print the certificates as a JSON array instead of the table", 5},
    {"quiet", 'q', NULL, 0, "Print only what does not hold", 5},
    {NULL, 0, NULL, 0, "Help:", -1},
    {0},
};

static const char *option_name(int key)
{
    for (const struct argp_option *o = option_list; o->name || o->doc; o++)
        if (o->key == key)
            return o->name;
    return "option";
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    certify_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->limits;
        state->child_inputs[1] = &a->attributes;
        return 0;
    case 'q': a->quiet = true; return 0;
    case KEY_JSON: a->json = true; return 0;
    case KEY_SKIP_MUTANTS: a->skip_mutants = true; return 0;
    case KEY_FRESH_MUTANTS: a->fresh_mutants = true; return 0;
    case KEY_KEEP_GOING: a->keep_going = true; return 0;
    case KEY_SANITIZE: a->sanitize = true; return 0;
    case KEY_NO_SANITIZE: a->no_sanitize = true; return 0;
    case KEY_NO_COVERAGE: a->skip_coverage = true; return 0;
    case KEY_INPUT:
        if (a->input_count == TK_MAX_PARAMS)
            argp_error(state, "--input is given more often than any op has inputs");
        else
            a->inputs[a->input_count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->skip_mutants && a->fresh_mutants)
            argp_error(state, "--skip-mutants and --fresh-mutants exclude each other");
        return 0;
    case ARGP_KEY_ARGS:
        a->ops = state->argv + state->next;
        a->op_count = state->argc - state->next;
        return 0;
    default:
        if (key < KEY_BACKEND || key >= KEY_END)
            return ARGP_ERR_UNKNOWN;
        if (given(a, key))
            argp_error(state, "--%s is given twice", option_name(key));
        a->text[key - KEY_BACKEND] = argument;
        return 0;
    }
}

/* The second is the attributes', which is made from the contracts. */
static struct argp_child children[] = {
    {&cli_limits_parser, 0, "What foreign code may have:", 3}, {NULL, 0, "Attributes of ops:", 4}, {0}};

static const struct argp command = {
    .options = option_list,
    .children = children,
    .parser = parse_option,
    .args_doc = "[OP...]",
    .doc =
        "Runs kernels on inputs chosen to find mistakes, judges every output element against the exact result, and "
        "writes a certificate for each. Without OP, every op is certified, and without --lowering every lowering "
        "that this machine can run."
        "\vCertificates of a mutant or of a single case are written only with --out.\n\n"
        "Exit status: 0 everything held, 1 a contract is refuted, 2 wrong usage, bad input or output that could not "
        "be written, 3 something could not be decided.",
};

/* ------------------------------------------------------------------------------------------------------------
 * Running the jobs
 * ------------------------------------------------------------------------------------------------------------ */

/* Wide enough for every subject that can come, since rows are printed one by one. */
static cli_table make_table(const certify_plan *p)
{
    cli_table table = cli_verdict_table(p->file_count > 0); /* only of these can be known what ran */
    for (int i = 0; i < p->job_count; i++) {
        const certify_job *j = &p->jobs[i];
        char id[160];
        const tk_case c = cli_case_of(j->contract, j->types, j->index_dtype);
        const cli_types_text types = cli_name_types(j->types);
        for (int f = 0; f < p->file_count; f++) {
            const char *slash = strrchr(p->files[f], '/');
            const char *name = slash ? slash + 1 : p->files[f];
            bool wide = tk_contract_takes_index(j->contract) && j->index_dtype == TK_I64;
            snprintf(id, sizeof id, "kernel.cpu.%s.%s.%.*s%s", j->contract->name, types.text, (int)strcspn(name, "."),
                     name, wide ? ".i64" : "");
            cli_table_fit(&table, 0, id);
        }
        for (int l = 0; !certify_planted(p) && !p->file_count && tk_lowering_id(&c, l, id, sizeof id); l++)
            cli_table_fit(&table, 0, id);
        if (certify_planted(p)) {
            snprintf(id, sizeof id, "%s.%s.%s.%s", p->options.mutant ? "mutant" : "variant", j->contract->name,
                     types.text, certify_planted(p));
            cli_table_fit(&table, 0, id);
        }
    }
    return table;
}

static void note_scope(certify_session *s, const tk_certificate *certificate)
{
    const char *scope = tk_certificate_scope(certificate);
    if (s->count == 0)
        s->scope = strdup(scope);
    else if (s->scope && strcmp(s->scope, scope) != 0)
        s->scopes_differ = true;
}

/* The day is that of its date, "2026-11-18T05:42:33Z". */
static void note_mutants(certify_session *s, const tk_certificate *certificate)
{
    char day[CLI_DATE_SIZE];
    snprintf(day, sizeof day, "%.10s", tk_certificate_mutants_kept(certificate));
    if (!day[0])
        return;
    if (!s->mutants_kept[0][0] || strcmp(day, s->mutants_kept[0]) < 0)
        strcpy(s->mutants_kept[0], day);
    if (strcmp(day, s->mutants_kept[1]) > 0)
        strcpy(s->mutants_kept[1], day);
}

static cli_exit print_certificate(certify_session *s, tk_certificate *certificate)
{
    tk_verdict verdict = tk_certificate_verdict(certificate);
    cli_progress_clear(&s->progress);
    if (s->a->json) {
        const char *text = tk_certificate_json(certificate);
        if (!text) {
            cli_complain(s->a->who, "no memory for the certificate's text");
            return CLI_UNKNOWN;
        }
        fputs(s->count > 0 ? ",\n" : "", stdout);
        tki_put_json(stdout, text, strlen(text) - (text[0] && text[strlen(text) - 1] == '\n'));
    } else if (s->rows && (!s->a->quiet || cli_exit_of_verdict(verdict) != CLI_HOLDS)) {
        cli_verdict_row(&s->table, certificate);
    }
    fflush(stdout);
    note_scope(s, certificate);
    note_mutants(s, certificate);
    s->count++;
    s->verdicts[verdict]++;
    return cli_exit_of_verdict(verdict);
}

static cli_exit write_certificate(certify_session *s, tk_ctx *ctx, tk_certificate *certificate, char **written)
{
    char *path = NULL;
    tk_status status = s->p->signer ? tk_certificate_sign(ctx, certificate, s->p->signer) : TK_OK;
    if (status == TK_OK)
        status = tk_certificate_write(ctx, certificate, given(s->a, KEY_OUT), &path);
    if (status != TK_OK) {
        cli_complain(s->a->who, "%s: the certificate was not written: %s", tk_certificate_subject(certificate),
                     tk_ctx_message(ctx));
        return CLI_BAD;
    }
    s->written++;
    if (written)
        *written = path ? strdup(path) : NULL;
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        *slash = '\0';
    free(s->where);
    s->where = path;
    return CLI_HOLDS;
}

cli_exit certify_finish(certify_session *s, tk_ctx *ctx, tk_certificate *certificate, bool keep, char **path)
{
    if (path)
        *path = NULL;
    cli_exit result = print_certificate(s, certificate);
    return keep ? cli_worse(result, write_certificate(s, ctx, certificate, path)) : result;
}

static cli_exit run_job(certify_session *s, tk_ctx *ctx, const certify_job *j)
{
    const cli_types_text types = cli_name_types(j->types);
    tk_certify_options options = s->p->options;
    options.result_dtype = &j->types.result_dtype;
    snprintf(s->progress.label, sizeof s->progress.label, "%s %s ", j->contract->name, types.text);
    options.dims = s->p->has_shape ? j->dims : NULL;
    if (j->lowering[0])
        options.lowering = j->lowering;
    tk_setting settings[TK_MAX_ATTRIBUTES];
    certify_settings_of(s->p, j->contract, settings, &options);
    char program[128];
    bool wide = tk_contract_takes_index(j->contract) && j->index_dtype == TK_I64;
    snprintf(program, sizeof program, "program.%s.%s%s", j->contract->name, types.text, wide ? ".i64" : "");
    if (s->p->program.server)
        options.kernel_name = program;
    options.progress = cli_progress_update;
    options.progress_data = &s->progress;
    tk_certificate *certificate = NULL;
    tk_status status = tk_certify(ctx, j->contract, j->types.dtype, j->index_dtype, &options, &certificate);
    if (status != TK_OK) {
        cli_progress_clear(&s->progress);
        cli_complain(s->a->who, "%s %s: %s: %s", j->contract->name, types.text, tk_status_text(status),
                     tk_ctx_message(ctx));
        return cli_exit_of(status, CLI_BAD);
    }
    cli_exit result = certify_finish(s, ctx, certificate, s->p->keep, NULL);
    if (s->p->program.server && tk_certificate_verdict(certificate) == TK_UNKNOWN)
        certify_program_explain(s->a->who, &s->p->program);
    tk_certificate_destroy(certificate);
    return result;
}

/* "26 certificates: 24 HELD, 2 PROVED; written to DIR", "2 certificates: 2 HELD for one case: n=1; not kept, ..." */
static void print_closing(const certify_session *s)
{
    static const tk_verdict order[] = {TK_REFUTED, TK_UNKNOWN, TK_HELD, TK_PROVED};
    const char *separator = ": ";
    printf("\n%d certificate%s", s->count, s->count == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (s->verdicts[order[i]] == 0)
            continue;
        char text[48];
        snprintf(text, sizeof text, "%d %s", s->verdicts[order[i]], tk_verdict_name(order[i]));
        fputs(separator, stdout);
        cli_print(cli_style_of(order[i]), text);
        separator = ", ";
    }
    if (s->scopes_differ) {
        fputs(", each for the case named", stdout);
    } else if (s->scope && s->scope[0]) {
        putchar(' ');
        cli_print(CLI_PLAIN, s->scope);
    }
    if (s->p->file_count || s->p->program.server)
        printf("; seed %llu", (unsigned long long)s->p->options.seed);
    if (s->where) {
        fputs("; written to ", stdout);
        cli_print(CLI_PLAIN, s->where);
    } else if (!s->p->keep && given(s->a, KEY_KERNELS)) {
        fputs("; not kept (--out DIR keeps them)", stdout);
    } else if (!s->p->keep) {
        fputs("; not kept, since this was not the whole check (--out DIR keeps them)", stdout);
    }
    putchar('\n');
    if (s->mutants_kept[0][0])
        printf("* mutants: judged by this build on %s%s%s, not run again now (--fresh-mutants runs them)\n",
               s->mutants_kept[0], strcmp(s->mutants_kept[0], s->mutants_kept[1]) ? " to " : "",
               strcmp(s->mutants_kept[0], s->mutants_kept[1]) ? s->mutants_kept[1] : "");
}

static cli_exit run_jobs(const certify_arguments *a, const certify_plan *p, tk_ctx *ctx)
{
    certify_session s = {.a = a, .p = p, .table = make_table(p), .progress = cli_progress_begin(p->job_count)};
    cli_exit result = CLI_HOLDS;
    const char *lines = given(a, KEY_JSON_LINES);
    s.rows = !a->json && !(lines && !strcmp(lines, "-"));
    bool table = s.rows && !a->quiet;
    if (a->json)
        fputs("[\n", stdout);
    if (table)
        cli_table_head(&s.table);
    if (p->file_count)
        result = certify_files_run(&s, ctx);
    for (int i = 0; i < p->job_count && !p->file_count; i++) {
        s.progress.job = i;
        result = cli_worse(result, run_job(&s, ctx, &p->jobs[i]));
    }
    cli_progress_clear(&s.progress);
    if (a->json)
        fputs("\n]\n", stdout);
    if (table && s.count > 0)
        print_closing(&s);
    free(s.where);
    free(s.scope);
    return result;
}

cli_exit cli_certify(int argc, char **argv)
{
    certify_arguments a = {.who = argv[0]};
    children[1].argp = cli_attributes_parser();
    if (cli_parse(&command, argc, argv, 0, &a) != 0)
        return CLI_BAD;
    tk_ctx *ctx = NULL;
    certify_plan *p = calloc(1, sizeof *p);
    if (!p || tk_ctx_create(&ctx) != TK_OK) {
        cli_complain(a.who, "out of memory");
        free(p);
        return CLI_UNKNOWN;
    }
    cli_show_notes(ctx, a.who);
    cli_exit result = certify_plan_make(&a, p, ctx);
    if (result == CLI_HOLDS)
        result = run_jobs(&a, p, ctx);
    certify_plan_free(p);
    tk_ctx_destroy(ctx);
    return result;
}
