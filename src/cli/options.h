/* SHOWS. The options of a command, as one table: its parser, --help, the man page and the shell's completion are made from it (cli.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokitai_verify.h"

/* What a row is; for an option, the type of its value. */
typedef enum cli_kind {
    CLI_END,
    CLI_GROUP,      /* the heading of the rows that follow: `help` */
    CLI_ROWS,       /* the rows of another table, of a structure at `place` */
    CLI_ATTRIBUTES, /* an option for each attribute of the ops: cli_attributes */
    CLI_ATTRIBUTE,  /* one of these */
    CLI_FLAG,       /* bool */
    CLI_TEXT,       /* const char * */
    CLI_CHOICE,     /* int: which of the words of `argument` */
    CLI_TEXTS,      /* cli_texts; may be repeated `most` times */
    CLI_INT,        /* int, int64_t, double and int64_t: these have a range */
    CLI_INT64,
    CLI_SECONDS,
    CLI_SIZE /* "4G" */
} cli_kind;

typedef struct cli_option {
    cli_kind kind;
    char letter; /* 'o' of -o; 0: it has none */
    bool required;
    const char *name;
    const char *
        argument; /* "TYPE|all": a word of lower case stands for itself, and completion.c says what the others stand for */
    size_t place; /* of the value, in the command's arguments */
    double least, most;
    const struct cli_option *rows;
    const char *with;     /* options, separated by spaces, of which one has to be given too */
    const char *excludes; /* options that may not be given too; "!chart": all but this */
    const char *help;     /* NULL: for other programs, and not shown */
} cli_option;

/* A row whose value is this member of the command's `arguments`. The help text comes first of what follows. */
#define CLI_ROW(kind_, name_, argument_, member_, ...)                                              \
    {                                                                                               \
        .kind = kind_, .name = name_, .argument = argument_, .place = offsetof(arguments, member_), \
        .help = __VA_ARGS__                                                                         \
    }
#define CLI_HEADING(text)               \
    {                                   \
        .kind = CLI_GROUP, .help = text \
    }

/* Options of several commands. The member has the name of the option; `more` is what this command adds to the text. */
#define CLI_BACKEND(names, more) CLI_ROW(CLI_TEXT, "backend", names, backend, "Where kernels run" more)
#define CLI_CHART(more) CLI_ROW(CLI_TEXT, "chart", "FILE.svg", chart, "Draw the results as SVG" more)
#define CLI_DTYPE(words, ...) \
    CLI_ROW(CLI_TEXT, "dtype", "TYPE" words, dtype, "Element type; f16-f32 has results in f32" __VA_ARGS__)
#define CLI_FORCE(more) CLI_ROW(CLI_FLAG, "force", NULL, force, "Replace existing files" more)
#define CLI_INDEX(more) \
    CLI_ROW(CLI_CHOICE, "index", "i32|i64|all", index, "Index type, for ops that take an index" more)
#define CLI_JSON CLI_ROW(CLI_FLAG, "json", NULL, json, "Print JSON instead of text")
#define CLI_WORD(id, name) name
#define CLI_LEVEL(words, more) \
    CLI_ROW(CLI_CHOICE, "level", words, level, "Which trials: quick takes seconds, full minutes" more)
#define CLI_LOWERING(words, ...)                        \
    CLI_ROW(CLI_TEXT, "lowering", "ID" words, lowering, \
            "One lowering, by an id that 'tokitai ops OP' lists, such as cpu.gelu_bwd.f16.scalar" __VA_ARGS__)
#define CLI_OUTPUT(argument_, ...) CLI_ROW(CLI_TEXT, "output", argument_, output, __VA_ARGS__, .letter = 'o')
#define CLI_SECONDS_EACH(more) \
    CLI_ROW(CLI_SECONDS, "seconds", "NUMBER", seconds, "Time for each case" more, .least = 1e-6, .most = 3600)
#define CLI_SEED(more)                        \
    CLI_ROW(CLI_TEXT, "seed", "NUMBER", seed, \
            "Seed of all random values, decimal or 0x; it determines every input" more)
#define CLI_SHAPE(more)                                                                                          \
    CLI_ROW(CLI_TEXT, "shape", "SIZES", shape,                                                                   \
            "One shape, by names (m=3,n=4,k=5) or in the order of the contract (3x4x5); sizes that follow from " \
            "others may be left out" more)
#define CLI_SIGN(...) \
    CLI_ROW(CLI_TEXT, "sign", "KEY", sign, "Sign certificates with this private key of 'tokitai keygen'" __VA_ARGS__)
#define CLI_THREADS(most_, more) \
    CLI_ROW(CLI_INT, "threads", "COUNT", threads, "Number of threads" more, .most = most_)

/* Of commands that run kernel files. */
#define CLI_KERNEL_FILE(...) CLI_ROW(CLI_TEXT, "kernel", "FILE", kernel, "Kernel file" __VA_ARGS__)
#define CLI_INCLUDE(...)                         \
    CLI_ROW(CLI_TEXT, "include", "DIR", include, \
            "Directories of headers of the kernel file, separated by colons" __VA_ARGS__)
#define CLI_COMPILER(...) \
    CLI_ROW(CLI_TEXT, "compiler", "PROGRAM", compiler, "Compiler of the kernel file" __VA_ARGS__)
#define CLI_COMPILER_FLAGS(...) CLI_ROW(CLI_TEXT, "flags", "FLAGS", flags, "Flags of that compiler" __VA_ARGS__)
#define CLI_TIMEOUT(...)                                                                                           \
    CLI_ROW(                                                                                                       \
        CLI_SECONDS, "timeout", "SECONDS", timeout,                                                                \
        "Time limit of one call of a kernel; a call that exceeds it is ended, with the verdict UNKNOWN. Default: " \
        "60" __VA_ARGS__,                                                                                          \
        .least = 0.01, .most = 86400)
#define CLI_TOTAL_TIMEOUT(...)                                                                          \
    CLI_ROW(CLI_SECONDS, "total-timeout", "SECONDS", total_seconds,                                     \
            "Time limit of all calls of kernel files and programs together. Default: 3600" __VA_ARGS__, \
            .least = 0.01, .most = 31536000)

enum { CLI_MOST_TEXTS = 256 };

typedef struct cli_texts {
    char *list[CLI_MOST_TEXTS];
    int count;
} cli_texts;

/* The arguments without a name. */
typedef struct cli_words {
    char **list; /* [count], into argv */
    int count;
} cli_words;

/* What the sandbox allows: rows for a structure cli_limits. */
extern const cli_option cli_limit_options[];

typedef struct cli_limits {
    tk_limits limits;
    bool allow_weak_sandbox;
} cli_limits;
