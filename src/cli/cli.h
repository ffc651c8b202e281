/* SHOWS. What the commands share: exit statuses, output, progress. Every command is a cli_command in the file of its name. */
#pragma once

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options.h"
#include "tokitai_verify.h"

typedef enum cli_exit {
    CLI_HOLDS = 0,   /* what was asked holds */
    CLI_REFUTED = 1, /* a contract is refuted, a certificate was altered, a replay came out differently */
    CLI_BAD = 2,     /* wrong usage, bad input, output that could not be written */
    CLI_UNKNOWN = 3  /* cannot tell: no device, no lowering, an UNKNOWN verdict */
} cli_exit;

/* `arguments` are those without a name, such as "[OP...]": a line for each form, which may begin with a word of lower case. `words` is where
 * their cli_words are in the structure of the command, `doc` what stands before its options, then \v and what follows them. */
typedef struct cli_command {
    const char *name, *summary, *arguments, *doc;
    const cli_option *options;
    size_t words;
    cli_exit (*run)(int argc, char **argv); /* argv[0] is "tokitai NAME" */
} cli_command;

const cli_command *cli_command_at(int i); /* in main.c; NULL past the end */

/* The rows of a command and of all tables in it, one after the other, without those that only point to others. */
typedef struct cli_row {
    const cli_option *option;
    size_t place;
    const char *with;
    int group;
    bool given;
} cli_row;

enum { CLI_MOST_ROWS = 96 };

int cli_rows_of(const cli_command *command, cli_row rows[CLI_MOST_ROWS]);

/* Reads the arguments into a structure of the command's, which has the defaults. Does not return where they are wrong or ask for help. */
void cli_parse(const cli_command *command, int argc, char **argv, void *arguments);

extern const cli_command cli_ops, cli_devices, cli_certify, cli_judge, cli_new_kernel, cli_corpus, cli_check,
    cli_replay, cli_diff, cli_report, cli_keygen, cli_bench, cli_tune, cli_padic, cli_kernel, cli_glue, cli_shard,
    cli_reshard, cli_diff_ckpt, cli_cache;

/* Prints what the last of these words, a command line behind the program's name, may become: words, one to a line, or "/files ENDING",
 * "/folders" or "/programs" for what the shell has to find. */
void cli_complete(int count, char **words);

/* The man page, where the template has ".\" commands" and the like. */
void cli_print_manual(FILE *template, FILE *out);

/* Names, one to a line, of a kind ("mutants"): of one op, or of all. */
void cli_list_words(const char *kind, const char *op);

/* The status that matters most of two: bad input or output, then refuted, then unknown. */
cli_exit cli_worse(cli_exit a, cli_exit b);

/* Of a failed call; `bad_file` says what a file that is not what it should be comes to. */
cli_exit cli_exit_of(tk_status status, cli_exit bad_file);

/* The same with CLI_BAD, and with the context's message as a complaint. */
cli_exit cli_exit_with(const char *who, tk_ctx *ctx, tk_status status);

/* ------------------------------------------------------------------------------------------------------------
 * Messages: "tokitai certify: ..." on standard error. The first argument is what stands before the colon.
 * ------------------------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) void cli_complain(const char *who, const char *format, ...);

/* argp_parse(), whose messages repeat the arguments, with these made fit for a terminal. */
int cli_parse_argp(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* A context, or NULL after a complaint. */
tk_ctx *cli_open(const char *who);

/* A private key that --sign names; *key stays NULL without a file. False after a complaint. */
bool cli_read_signer(const char *who, tk_ctx *ctx, const char *file, tk_key **key);

/* Makes the folder that --out names, now, so that a bad one is found before any work. False after a complaint. */
bool cli_make_out(const char *who, const char *folder);

/* Whether a file that an option names can be written; NULL: there is none. Nothing is left there. False after a complaint. */
bool cli_can_write(const char *who, const char *option, const char *path);

/* That file, empty, to be written; NULL, with errno, if it cannot be, or is a link, behind which something else could be written over. */
FILE *cli_create(const char *path);

/* Notes of this context are complained of from now on. `who` has to stay. */
void cli_show_notes(tk_ctx *ctx, const char *who);

/* ------------------------------------------------------------------------------------------------------------
 * Standard output
 * ------------------------------------------------------------------------------------------------------------ */

/* Makes the process exit with CLI_BAD when standard output could not be written in full. Call once, first. */
void cli_watch_output(void);

typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_FAINT, CLI_GOOD, CLI_WRONG, CLI_DOUBTFUL } cli_style;

cli_style cli_style_of(tk_verdict verdict);

/* Text that may come from a file or another program, made fit for a terminal (core/escape.h). */
void cli_print(cli_style style, const char *text);

/* A paragraph: each line begins with `indent` blanks, words are kept whole. The first line continues at `column`. */
void cli_wrap(int indent, int column, const char *text);

/* What another program said, on standard error, since a table or JSON is on standard output: its first lines, each behind a bar. */
void cli_print_log(const char *log, int most_lines);

/* A heading in bold, after an empty line. */
void cli_heading(const char *text);

enum { CLI_MAX_COLUMNS = 8 };

typedef struct cli_cell {
    const char *text;
    cli_style style;
} cli_cell;

typedef struct cli_table {
    int count;
    struct {
        char title[32];
        bool right;
        int width;
    } columns[CLI_MAX_COLUMNS];
} cli_table;

/* Of columns "OP=14|#ELEMENTS": # before a title whose cells stand to the right, a width behind =. */
cli_table cli_table_of(const char *columns);
void cli_table_fit(cli_table *table, int column, const char *text); /* widens a column for this text */
void cli_table_head(cli_table *table);
void cli_table_row(const cli_table *table, const cli_cell cells[]);

/* Prints and releases a JSON value. A NULL, which Jansson gives when memory runs out, is CLI_BAD. */
cli_exit cli_print_json(json_t *value);
json_t *cli_json_text(const char *text); /* a string, whatever the bytes are */
json_t *cli_json_shape(const tk_case *c);

/* "16x1024"; returns its length. */
size_t cli_format_shape(const tk_case *c, char *text, size_t size);

/* "2.0 GiB", "1,048,576" */
void cli_format_bytes(int64_t bytes, char *text, size_t size);
void cli_format_count(int64_t count, char *text, size_t size);

/* ------------------------------------------------------------------------------------------------------------
 * Progress: one line on standard error, only on a terminal, only for work that has taken over two seconds
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct cli_progress {
    bool enabled;
    bool shown;
    double start;
    double last;
    int job; /* counts from 0 */
    int jobs;
    char label[64]; /* of this job */
} cli_progress;

cli_progress cli_progress_begin(int jobs);
void cli_progress_update(double done, const char *what, void *progress); /* a tk_progress */
void cli_progress_clear(cli_progress *progress);

double cli_seconds(void); /* of a clock that only goes forward */
