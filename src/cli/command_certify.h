/* SHOWS. tokitai certify, as its files share it: command_certify.c reads the options and runs jobs, certify_plan.c makes the jobs, certify_files.c
 * runs those of kernel files, certify_program.c has the kernels of other programs, junit.c writes their results for other programs. */
#pragma once

#include "cli/attribute_options.h"
#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "cli/parse.h"
#include "tokitai_serve.h"

enum { CLI_DATE_SIZE = sizeof "2026-11-18" };

typedef struct certify_arguments {
    cli_words ops;
    const char *who, *backend, *lowering, *dtype, *mutant, *variant; /* NULL if not given, like all texts */
    const char *kernel, *kernels, *program, *compiler, *flags, *include;
    const char *seed, *alignment, *shape, *family, *plant;
    const char *out, *sign, *json_lines, *junit;
    cli_texts inputs;
    cli_attributes attributes;
    cli_limits limits;
    double timeout, total_seconds;   /* 0: not given */
    int jobs, threads, level, index; /* index: negative if not given */
    bool skip_mutants, fresh_mutants, keep_going, sanitize, no_sanitize, no_coverage, keep_artifact, json, quiet;
} certify_arguments;

enum { MANY = 64 /* names of one kind */, MOST_FAMILIES = 256, MOST_IDS = 16 * CLI_MOST_OPS };

typedef struct certify_job {
    const tk_contract *contract;
    tk_types types;
    tk_dtype index_dtype;
    int64_t dims[TK_MAX_DIMS];  /* with --shape */
    char lowering[CLI_ID_SIZE]; /* its id; "" for the first that accepts, a mutant or kernel files */
} certify_job;

/* A program that serves kernels; zeroed if there is none. */
typedef struct certify_program {
    tk_ctx *ctx; /* its own, since it is used within calls of the other */
    tk_server *server;
} certify_program;

typedef struct certify_plan {
    const tk_contract *ops[CLI_MOST_OPS];
    int op_count;
    cli_types types;
    unsigned index_dtypes; /* one bit per type */
    cli_shape shape;
    int64_t planted[TK_MAX_PLANTED];
    tk_setting settings[TK_MAX_ATTRIBUTES];
    bool has_seen_settings; /* of attributes that kernels see */
    int setting_count;
    cli_input inputs[TK_MAX_PARAMS];
    tk_given_input given[TK_MAX_PARAMS];
    bool keep;      /* write certificates */
    tk_key *signer; /* NULL: do not sign */
    tk_certify_options options;
    int family;        /* the number of options.family */
    bool best;         /* only the first lowering that accepts */
    bool slowest;      /* only the last */
    bool first_types;  /* only the first types of each op */
    bool all_types;    /* asked for: those too that user kernels may not have been written for */
    char left_out[96]; /* the names of these, else */
    char **files;      /* [file_count], kernel files: each runs the jobs of those ops that it defines */
    int file_count;
    tk_kernel_file_options file_options;
    certify_program program;
    certify_job jobs[MOST_IDS];
    int job_count;
} certify_plan;

/* The planted kernel that was asked for; NULL if none was. */
static inline const char *certify_planted(const certify_plan *p)
{
    return p->options.mutant ? p->options.mutant : p->options.variant;
}

/* What the names of jobs with 64-bit indices end in. */
static inline const char *certify_index_ending(const certify_job *j)
{
    return tk_contract_takes_index(j->contract) && j->index_dtype == TK_I64 ? ".i64" : "";
}

typedef struct certify_session {
    const certify_arguments *a;
    const certify_plan *p;
    bool rows; /* of the table are printed */
    cli_table table;
    cli_progress progress;
    int count; /* certificates made */
    int verdicts[TK_UNKNOWN + 1];
    char *scope; /* tk_certificate_scope() of the first, or NULL */
    bool scopes_differ;
    int written;
    char *where;                         /* the folder that the last one was written to, or NULL */
    char mutants_kept[2][CLI_DATE_SIZE]; /* of those that were not run again, the earliest and the latest day; "" */
} certify_session;

/* CLI_HOLDS, or what it came to after a complaint. */
cli_exit certify_plan_make(const certify_arguments *a, certify_plan *p, tk_ctx *ctx);
void certify_plan_free(certify_plan *p);

/* The settings that go with an op: those of attributes that it has. `kept` has place for all; the options point to it. */
void certify_settings_of(const certify_plan *p, const tk_contract *op, tk_setting kept[TK_MAX_ATTRIBUTES],
                         tk_certify_options *options);

/* Prints the certificate and, if `keep`, writes it. `path`, if not NULL, receives the file's path or NULL; free() it. */
cli_exit certify_finish(certify_session *s, tk_ctx *ctx, tk_certificate *certificate, bool keep, char **path);

/* Writes the judged library beside its certificate NAME.json, as NAME.so. */
cli_exit certify_keep_artifact(const certify_session *s, tk_ctx *ctx, const tk_kernel_file *kernel,
                               const char *certificate_path);

/* Judges every file of the plan. The head of the table has been printed. */
cli_exit certify_files_run(certify_session *s, tk_ctx *ctx);

/* Starts the program and makes it the kernel of these options. Closing is due in any case. */
bool certify_program_open(const char *who, const char *command, double seconds, certify_program *program,
                          tk_certify_options *options);
void certify_program_close(certify_program *program);
/* Says why its last call failed. */
void certify_program_explain(const char *who, const certify_program *program);
