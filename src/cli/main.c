/* SHOWS. The program: finds the command and hands over to it. */
#include <argp.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/common_arguments.h"

static const cli_command *const commands[] = {
    &cli_ops,    &cli_devices, &cli_certify, &cli_judge,   &cli_new_kernel, &cli_corpus, &cli_check,
    &cli_replay, &cli_diff,    &cli_report,  &cli_keygen,  &cli_bench,      &cli_tune,   &cli_padic,
    &cli_kernel, &cli_glue,    &cli_shard,   &cli_reshard, &cli_diff_ckpt,  &cli_cache,
};

enum { COMMANDS = sizeof commands / sizeof *commands };

const cli_command *cli_command_at(int i)
{
    return i < COMMANDS ? commands[i] : NULL;
}

static const cli_command *find_command(const char *name)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i]->name;
        if (!strcmp(name, names[i]))
            return commands[i];
    }
    cli_complain_unknown("tokitai", "command", name, names, COMMANDS);
    fputs("Try 'tokitai --help'.\n", stderr);
    return NULL;
}

enum { KEY_COMPLETE = 256, KEY_PRINT_MANUAL };

/* For the shell and for the build. */
static const struct argp_option hidden_options[] = {
    {"complete", KEY_COMPLETE, NULL, OPTION_HIDDEN, NULL, 0},
    {"print-manual", KEY_PRINT_MANUAL, NULL, OPTION_HIDDEN, NULL, 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    int *command = state->input;
    (void)argument;
    switch (key) {
    case KEY_COMPLETE: cli_complete(state->argc - state->next, state->argv + state->next); exit(CLI_HOLDS);
    case KEY_PRINT_MANUAL: cli_print_manual(stdin, stdout); exit(CLI_HOLDS);
    case ARGP_KEY_ARG:
        *command = state->next - 1;
        state->next = state->argc; /* the rest is the command's */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_state_help(state, state->err_stream,
                        ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC | ARGP_HELP_EXIT_ERR);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The commands, put between the two parts of the help text. argp frees what this returns. */
static char *filter_help(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    char *result = NULL;
    size_t size;
    FILE *stream = open_memstream(&result, &size);
    if (!stream)
        return (char *)(uintptr_t)text;
    fputs("Commands:\n", stream);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs(text, stream);
    fclose(stream);
    return result ? result : (char *)(uintptr_t)text;
}

static const struct argp program = {
    .options = hidden_options,
    .parser = parse_option,
    .args_doc = "COMMAND [ARGUMENT...]",
    .doc = "Verified deep-learning training kernels, and a verifier for kernels."
           "\v\n'tokitai COMMAND --help' explains a command. To begin with:\n"
           "  tokitai ops gelu_bwd        print the contract of an op\n"
           "  tokitai certify gelu_bwd    check whether its kernels satisfy it on this machine\n\n"
           "Exit status: 0 what was asked holds; 1 a contract is refuted; 2 wrong usage or bad input; 3 undecided.",
    .help_filter = filter_help,
};

static void print_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    fprintf(stream, "tokitai %s\n", tk_version());
}

/* "tokitai help certify" is "tokitai certify --help". */
static cli_exit run_command(int argc, char **argv)
{
    char help[] = "--help";
    char *help_argv[] = {NULL, help, NULL};
    if (!strcmp(argv[0], "help")) {
        char program_name[] = "tokitai";
        if (argc < 2) {
            argp_help(&program, stdout, ARGP_HELP_STD_HELP, program_name);
            return CLI_HOLDS;
        }
        help_argv[0] = argv[1];
        argc = 2;
        argv = help_argv;
    }
    const cli_command *command = find_command(argv[0]);
    if (!command)
        return CLI_BAD;
    char name[32];
    snprintf(name, sizeof name, "tokitai %s", command->name);
    argv[0] = name;
    return command->run(argc, argv);
}

/* Waiting OpenMP threads spin by default, which makes many short runs ten times slower on a machine that is not idle. What
 * is timed may let them spin for some tenths of a millisecond: to wake two that sleep takes as long as a small call. The
 * run-time reads the setting when it is loaded, before main(); so the program starts itself once more with it. */
static void let_threads_sleep(int argc, char **argv)
{
    const bool timing = argc > 1 && !strcmp(argv[1], "bench");
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || setenv("OMP_WAIT_POLICY", "passive", 1) ||
        (timing && setenv("GOMP_SPINCOUNT", "50000", 1)))
        return;
    execv("/proc/self/exe", argv); /* where that fails, it is only slower */
}

/* A judge takes and gives back buffers of megabytes thousands of times; each would be mapped and filled with zeros anew. */
static void keep_freed_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
    mallopt(M_TRIM_THRESHOLD, 1 << 27);
}

int main(int argc, char **argv)
{
    static char own_name[] = "tokitai";
    int command = 0;
    let_threads_sleep(argc, argv);
    keep_freed_memory();
    cli_watch_output();
    /* A file that may not grow any more is like a full disk: write() fails, and what was begun is removed. */
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 1) {
        cli_complain(own_name, "argv[0] is missing");
        return CLI_BAD;
    }
    argv[0] = own_name;
    argp_err_exit_status = CLI_BAD;
    argp_program_version_hook = print_version;
    if (cli_parse_argp(&program, argc, argv, ARGP_IN_ORDER, &command) != 0 || command == 0)
        return CLI_BAD;
    return (int)run_command(argc - command, argv + command);
}
