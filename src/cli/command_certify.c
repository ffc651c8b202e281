/* SHOWS. tokitai certify: judge kernels against an exact oracle and write certificates. First every argument is turned into a
 * list of jobs, then the jobs are run; an argument error is found before anything is run. */
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

typedef certify_arguments arguments;

static const cli_option option_list[] = {
    CLI_HEADING("What is judged:"),
    CLI_BACKEND("BACKEND", ": cpu, cuda or hip; cuda:1 is the second device. Default: that of --lowering, or cpu"),
    CLI_LOWERING("|best|slowest|all",
                 "; or best, the fastest that this machine runs; slowest, the portable one; all. Default: all; at "
                 "level exhaustive best",
                 .excludes = "mutant variant"),
    CLI_DTYPE("|first|all",
              "; first is the first that each op has. Default: all; of a kernel file or a program f16 and bf16"),
    CLI_INDEX(". Default: all; with --shape i32"),
    CLI_ROW(CLI_TEXT, "mutant", "MUTANT", mutant,
            "A mutant of OP, a kernel with a known error, to see that it is refuted and why", .excludes = "variant"),
    CLI_ROW(CLI_TEXT, "variant", "VARIANT", variant,
            "A variant of OP, a right kernel that computes in another way than ours, to see that it holds"),
    CLI_KERNEL_FILE(": C, C++, CUDA or HIP source or a shared library (.c .cpp .cc .cu .hip .so) with functions of "
                    "tokitai_kernel.h, for each OP given or all that it defines; or a directory with kernel.c and "
                    "the files that it includes. It is compiled and run in sandboxed processes. 'tokitai ops OP' "
                    "prints the declaration, 'tokitai new-kernel OP' writes a kernel file",
                    .excludes = "kernels program lowering mutant variant"),
    CLI_ROW(CLI_TEXT, "kernels", "DIR", kernels,
            "Every kernel file in a directory. One that crashes, hangs or does not compile does not stop the others. "
            "Mutants are not run, and certificates are written only with --out",
            .excludes = "program lowering mutant variant"),
    CLI_ROW(CLI_TEXT, "program", "COMMAND", program,
            "Kernels of a program that answers binary frames (docs/protocol.md) on its standard input and output, in "
            "any language. The shell runs COMMAND; it is not sandboxed",
            .excludes = "lowering mutant variant"),
    CLI_COMPILER(". Default: cc, c++, nvcc or hipcc", .with = "kernel kernels"),
    CLI_COMPILER_FLAGS(", in one argument. Flags for a shared library are always added, and for nvcc the "
                       "architecture of the device unless they name one. Default: -O2; for nvcc -O2 -lineinfo",
                       .with = "kernel kernels"),
    CLI_INCLUDE("; they are copied and hashed", .with = "kernel kernels"),

    CLI_HEADING("Effort and limits:"),
    CLI_LEVEL(TK_LEVELS(CLI_WORD, "|"), " and at least 33 million elements; exhaustive tries every input where the "
                                        "domain of the contract is finite. Default: quick"),
    CLI_SEED(". Default: a fixed one; for kernel files and programs one drawn from the system, which is printed"),
    CLI_ROW(CLI_FLAG, "skip-mutants", NULL, skip_mutants, "Do not run the mutants; the certificate says so",
            .excludes = "fresh-mutants"),
    CLI_ROW(CLI_FLAG, "fresh-mutants", NULL, fresh_mutants,
            "Run the mutants even if the cache directory has this build's verdicts on them. Otherwise a build runs "
            "them once for an op and its types, under a seed that follows from these; the certificate gives the date "
            "of an earlier run, and the table marks it with *"),
    CLI_ROW(CLI_FLAG, "keep-going", NULL, keep_going,
            "After a failed trial, run the others too, to grade a refuted kernel by all of them. Otherwise only the "
            "trial that failed first counts, and the verdict says 'so far'. A kernel that has crashed eight times is "
            "not run further"),
    CLI_ROW(CLI_FLAG, "sanitize", NULL, sanitize,
            "Repeat small trials of CUDA kernel files that held under compute-sanitizer (memcheck, racecheck, "
            "initcheck, synccheck), if it is found; a finding refutes the kernel. This is the default at level full "
            "and exhaustive. A certificate without these checks says so",
            .with = "kernel kernels", .excludes = "no-sanitize"),
    CLI_ROW(CLI_FLAG, "no-sanitize", NULL, no_sanitize, "Never use compute-sanitizer", .with = "kernel kernels"),
    CLI_ROW(CLI_FLAG, "no-coverage", NULL, no_coverage,
            "Do not build an instrumented version of kernel files to find further trials. This takes less time, and "
            "the certificate says that coverage is not known"),
    CLI_TIMEOUT("", .with = "kernel kernels program"),
    CLI_TOTAL_TIMEOUT(". When it expires the verdict is UNKNOWN, with the number of trials that were judged, unless "
                      "the kernel is refuted by then",
                      .with = "kernel kernels program"),
    CLI_ROW(CLI_INT, "jobs", "COUNT", jobs, "Number of kernel files that are judged in parallel. Default: 1",
            .least = 1, .most = 256, .with = "kernel kernels"),
    CLI_THREADS(
        65536,
        " of every call of a kernel. 0, the default, is 1, 2, 3, 4, 5, 8 and 16 in turn, whatever this machine has"),
    CLI_ROW(CLI_TEXT, "alignment", "BYTES", alignment,
            "Address of every array of every call: an odd multiple of this power of two, or a multiple of 256. 0, "
            "the default, is all of these in turn, and addresses where a page begins or ends"),

    CLI_HEADING("Limits of kernel files:"),
    {.kind = CLI_ROWS, .rows = cli_limit_options, .place = offsetof(arguments, limits), .with = "kernel kernels"},

    CLI_HEADING("Only this case:"),
    CLI_SHAPE("; it must fit every op chosen"),
    CLI_ROW(CLI_TEXT, "family", "FAMILY", family,
            "One family of inputs, as 'tokitai ops --families' lists them. Without OP, ops to which it does not "
            "apply are left out",
            .excludes = "input"),
    CLI_ROW(CLI_TEXTS, "input", "NAME=BITS,...", inputs,
            "One input, element by element, as bit patterns (x=0x3c00,0xfc00); an index may be decimal. Needs one OP "
            "and one --dtype, and is repeated for each input that has elements",
            .most = TK_MAX_PARAMS, .with = "shape"),
    CLI_ROW(CLI_TEXT, "plant", "VALUES", plant,
            "Up to eight numbers, separated by commas, that are put among the inputs that the family draws, with "
            "--shape: as bit patterns of elements, and as indices if they are in range. The reproducing commands of "
            "coverage-guided trials use it"),

    CLI_HEADING("Output:"),
    CLI_ROW(CLI_TEXT, "out", "DIR", out,
            "Write certificates to DIR, which is created if necessary, as SUBJECT.json and SUBJECT.md, replacing "
            "those of an earlier run. Without this option they go to the state directory, except those of a mutant "
            "or of only one case, which are not kept"),
    CLI_ROW(CLI_FLAG, "keep-artifact", NULL, keep_artifact,
            "Kernel files: also write the judged shared library next to each certificate, as NAME.so, and judge "
            "that library alone: its source may ask where, when and how it is compiled. To compare a file with it: "
            "'tokitai check CERT --artifact FILE'",
            .with = "kernel kernels"),
    CLI_SIGN(": also write each as a DSSE envelope, NAME.dsse.json. A later run without this option does not remove "
             "the envelope of an earlier run"),
    CLI_ROW(CLI_TEXT, "json-lines", "FILE", json_lines,
            "Kernel files: also write a line of JSON for each result as it is available; - is standard output, "
            "instead of the table",
            .with = "kernel kernels"),
    CLI_ROW(
        CLI_TEXT, "junit", "FILE.xml", junit,
        "Kernel files: also write the results as JUnit XML: a file is a suite, REFUTED a failure, UNKNOWN an error",
        .with = "kernel kernels"),
    CLI_JSON,
    CLI_ROW(CLI_FLAG, "quiet", NULL, quiet, "Print only kernels that do not hold", .letter = 'q'),
    {.kind = CLI_ATTRIBUTES, .place = offsetof(arguments, attributes)},
    {0},
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
            const char *name = basename(p->files[f]);
            snprintf(id, sizeof id, "kernel.cpu.%s.%s.%.*s%s", j->contract->name, types.text, (int)strcspn(name, "."),
                     name, certify_index_ending(j));
            cli_table_fit(&table, 0, id);
        }
        if (tk_contract_definition(j->contract) && !p->file_count) {
            snprintf(id, sizeof id, "plain.%s.%s.%s%s", p->options.backend ? p->options.backend : "cpu",
                     j->contract->name, types.text, certify_index_ending(j));
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
            cli_complain(s->a->who, "out of memory");
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
        status = tk_certificate_write(ctx, certificate, s->a->out, &path);
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

cli_exit certify_keep_artifact(const certify_session *s, tk_ctx *ctx, const tk_kernel_file *kernel,
                               const char *certificate_path)
{
    char *path = NULL;
    const size_t length = certificate_path ? strlen(certificate_path) : 0;
    if (!s->a->keep_artifact || length <= strlen(".json") || tk_kernel_file_problem(kernel)[0])
        return CLI_HOLDS;
    const bool named = asprintf(&path, "%.*s.so", (int)(length - strlen(".json")), certificate_path) >= 0;
    const tk_status status = named ? tk_kernel_file_write_artifact(ctx, kernel, path) : TK_NO_MEMORY;
    if (status != TK_OK)
        cli_complain(s->a->who, "%s: the artifact was not written: %s", certificate_path,
                     named ? tk_ctx_message(ctx) : "out of memory");
    if (named)
        free(path);
    return cli_exit_of(status, CLI_BAD);
}

static cli_exit run_job(certify_session *s, tk_ctx *ctx, const certify_job *j)
{
    const cli_types_text types = cli_name_types(j->types);
    tk_certify_options options = s->p->options;
    options.result_dtype = &j->types.result_dtype;
    snprintf(s->progress.label, sizeof s->progress.label, "%s %s ", j->contract->name, types.text);
    options.dims = s->a->shape ? j->dims : NULL;
    if (j->lowering[0])
        options.lowering = j->lowering;
    tk_setting settings[TK_MAX_ATTRIBUTES];
    certify_settings_of(s->p, j->contract, settings, &options);
    char program[128];
    snprintf(program, sizeof program, "program.%s.%s%s", j->contract->name, types.text, certify_index_ending(j));
    if (s->p->program.server)
        options.kernel_name = program;
    options.progress = cli_progress_update;
    options.progress_data = &s->progress;
    tk_certificate *certificate = NULL;
    const tk_contract *op = cli_op_in(s->a->who, ctx, j->contract);
    tk_status status = op ? tk_certify(ctx, op, j->types.dtype, j->index_dtype, &options, &certificate)
                          : TK_NO_MEMORY;
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
    } else if (!s->p->keep && s->a->kernels) {
        fputs("; not kept (--out DIR keeps them)", stdout);
    } else if (!s->p->keep) {
        fputs("; not kept: restricted check (--out DIR keeps them)", stdout);
    }
    putchar('\n');
    if (s->p->left_out[0])
        printf("not judged: %s; --dtype all judges a kernel in these types, too\n", s->p->left_out);
    if (s->mutants_kept[0][0])
        printf("* mutants: judged by this build on %s%s%s, not run again (--fresh-mutants runs them)\n",
               s->mutants_kept[0], strcmp(s->mutants_kept[0], s->mutants_kept[1]) ? " to " : "",
               strcmp(s->mutants_kept[0], s->mutants_kept[1]) ? s->mutants_kept[1] : "");
}

static cli_exit run_jobs(const certify_arguments *a, const certify_plan *p, tk_ctx *ctx)
{
    certify_session s = {.a = a, .p = p, .table = make_table(p), .progress = cli_progress_begin(p->job_count)};
    cli_exit result = CLI_HOLDS;
    const char *lines = a->json_lines;
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

static cli_exit run(int argc, char **argv)
{
    arguments a = {.who = argv[0], .jobs = 1, .index = -1};
    cli_parse(&cli_certify, argc, argv, &a);
    static certify_plan all, *const p = &all;
    tk_ctx *ctx = cli_open(a.who);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_show_notes(ctx, a.who);
    cli_exit result = certify_plan_make(&a, p, ctx);
    if (result == CLI_HOLDS)
        result = run_jobs(&a, p, ctx);
    certify_plan_free(p);
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_certify = {
    .name = "certify",
    .summary = "judge kernels against an exact oracle, write certificates",
    .arguments = "[OP...]",
    .words = offsetof(arguments, ops),
    .options = option_list,
    .run = run,
    .doc = "Runs kernels on inputs chosen to expose errors, judges every output element against the exact result, "
           "and writes a certificate for each. Without OP, every op is certified; each once for every element type, "
           "every index type where it takes an index, and every lowering that this machine can run.\n\n"
           "A line is printed for each as it finishes: the subject, the verdict, the number of elements judged, the "
           "worst error in units in the last place, the largest share of the error bound that was used, how many "
           "mutants were rejected, and the time. The error covers elements for which a unit in the last place is "
           "meaningful: the exact value is larger than the bound, and both values are finite. A verdict on a "
           "restricted check, or REFUTED, has one more line."
           "\vArguments are checked before anything is run. The certificate and its headline name each attribute "
           "that is not the default. If a user kernel fails with one --numerics and holds with the other, the "
           "certificate says so. Matrix units truncate inputs of f32 to TF32: tensor_core is refused for them.\n\n"
           "Exit status: 0 everything held; 1 a contract is refuted; 2 wrong usage, bad input, or output that could "
           "not be written; 3 something could not be decided.",
};
