/* SHOWS. --program: the kernel is another program that answers binary frames on its standard input and output (docs/protocol.md), started once for
 * all jobs. It is the caller's own program and is not sandboxed. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command_certify.h"

/* Nonzero: it did not take the case, or broke; the message is in the program's own context. */
static int run(const tk_case *c, void *const buffers[], void *data)
{
    certify_program *program = data;
    return (int)tk_server_run(program->ctx, program->server, c, buffers, NULL);
}

bool certify_program_open(const char *who, const char *command, double seconds, certify_program *program,
                          tk_certify_options *options)
{
    char *line = NULL;
    if (asprintf(&line, "exec %s", command) < 0 || tk_ctx_create(&program->ctx) != TK_OK) {
        cli_complain(who, "out of memory");
        free(line);
        return false;
    }
    char shell[] = "/bin/sh", option[] = "-c";
    char *const argv[] = {shell, option, line, NULL};
    tk_server_options server_options = TK_SERVER_DEFAULTS;
    server_options.binary = true;
    if (seconds > 0)
        server_options.call_seconds = seconds;
    tk_status status = tk_server_open(program->ctx, argv, &server_options, &program->server);
    free(line);
    if (status != TK_OK) {
        cli_complain(who, "--program: %s", tk_ctx_message(program->ctx));
        return false;
    }
    options->kernel = run;
    options->kernel_data = program;
    options->kernel_program = command;
    return true;
}

void certify_program_explain(const char *who, const certify_program *program)
{
    cli_complain(who, "--program: %s", tk_ctx_message(program->ctx));
    cli_print_log(tk_server_errors(program->server), INT_MAX); /* its end is what was kept */
}

void certify_program_close(certify_program *program)
{
    tk_server_close(program->server);
    tk_ctx_destroy(program->ctx);
}
