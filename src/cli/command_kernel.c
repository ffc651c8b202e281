/* SHOWS. tokitai kernel: the kernel programs that other programs drive through standard input and output. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "serve/server.h"

enum { DEFAULT_LIMIT = 1 << 30 };

typedef struct arguments {
    cli_words words;
    const tki_serve_program *program;
    const char *backend, *socket;
    bool server, binary;
    int64_t limit;
} arguments;

static const cli_option option_list[] = {
    CLI_ROW(CLI_FLAG, "server", NULL, server,
            "Serve requests until end of file. A request that fails is answered with the message and ends the "
            "program with its status"),
    CLI_ROW(CLI_FLAG, "binary", NULL, binary,
            "Binary frames, for all types of the operation and both index types; on a socket the arrays may be in "
            "shared memory. Without --server or --socket, one frame"),
    CLI_ROW(CLI_TEXT, "socket", "FILE", socket,
            "Serve frames on a Unix socket, several connections at a time, until SIGTERM or SIGINT"),
    CLI_BACKEND("BACKEND", ": cpu, cuda or hip; cuda:1 is the second device. Default: cpu"),
    CLI_ROW(CLI_INT64, "max-frame", "BYTES", limit, "Maximum size of a request or a reply. Default: 1 GiB",
            .least = 1, .most = UINT32_MAX),
    {0},
};

static const tki_serve_program *find_program(const char *who, const char *name)
{
    const char *names[8];
    int count = 0;
    const tki_serve_program *program = tki_serve_program_find(name);
    for (; !program && count < 8 && tki_serve_program_at(count); count++)
        names[count] = tki_serve_program_at(count)->name;
    if (!program)
        cli_complain_unknown(who, "program", name, names, count);
    return program;
}

/* The writing end of a pipe. A handler, since threads of libraries, started before main(), take signals too. */
static int ending = -1;

static void end_on_signal(int number)
{
    int kept = errno;
    (void)number;
    (void)!write(ending, "", 1);
    errno = kept;
}

/* Until SIGTERM or SIGINT. */
static int serve_socket(const arguments *a, tk_ctx *ctx)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return TKI_SERVE_DEVICE;
    ending = ends[1];
    struct sigaction action = {.sa_handler = end_on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    const tki_serve_listener listener = {.program = a->program,
                                         .device = a->backend,
                                         .limit = (uint64_t)a->limit,
                                         .binary = a->binary,
                                         .path = a->socket,
                                         .stop = ends[0]};
    int result = tki_serve_socket(ctx, &listener);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    close(ends[0]);
    close(ends[1]);
    return result;
}

static int serve(const arguments *a, tk_ctx *ctx)
{
    if (a->socket)
        return serve_socket(a, ctx);
    tki_service *service;
    if (tki_service_open(ctx, a->program, a->backend, (uint64_t)a->limit, &service) != TK_OK)
        return TKI_SERVE_DEVICE;
    int result = a->server || a->binary
                     ? tki_serve_frames(service, STDIN_FILENO, STDOUT_FILENO, a->binary, !a->server, NULL)
                     : tki_serve_once(service, STDIN_FILENO, STDOUT_FILENO);
    tki_service_close(service);
    return result;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {.backend = "cpu", .limit = DEFAULT_LIMIT};
    cli_parse(&cli_kernel, argc, argv, &a);
    a.program = find_program(argv[0], a.words.list[0]);
    if (!a.program)
        return CLI_BAD;
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return (cli_exit)TKI_SERVE_DEVICE;
    cli_show_notes(ctx, argv[0]);
    signal(SIGPIPE, SIG_IGN); /* a reply that nobody takes is an exit status */
    int result = serve(&a, ctx);
    if (result != TKI_SERVE_DONE)
        cli_complain(argv[0], "%s", tk_ctx_message(ctx));
    tk_ctx_destroy(ctx);
    return (cli_exit)result;
}

const cli_command cli_kernel = {
    .name = "kernel",
    .summary = "serve kernels to another program through standard input and output",
    .arguments = "gelu-bwd|softmax|gemm-bw|embedding",
    .words = offsetof(arguments, words),
    .options = option_list,
    .run = run,
    .doc = "Reads one request, decimal numbers separated by white space, from standard input and writes the reply, a "
           "KEY=value per line, to standard output. Values are fp16 and are sent as their 16-bit patterns. With "
           "--server or --socket, requests and replies are frames: a little-endian u32 length, then that many bytes. "
           "docs/protocol.md specifies the protocol, with the binary frames and the exit status of each error."
           "\vRequests:\n"
           "  gelu-bwd   N, grad_output, input\n"
           "  softmax    0 ROWS COLS, input; or 1 ROWS COLS, grad_output, softmax_output\n"
           "  gemm-bw    1 M N K, grad_C, B: grad_A; or 2 M N K, grad_C, A: grad_B\n"
           "  embedding  QUERIES DIM VOCAB 0, indices, weight; ... 1, indices, grad_output\n\n"
           "Exit status: 0 done; 2 header unreadable or wrong usage; 3 to 9 a wrong or missing number; 10 device "
           "error; 11 an index out of range; 20 to 22 a cut or overlong frame; 23 the reply could not be written.",
};
