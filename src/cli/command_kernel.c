/* tokitai kernel: the kernel programs that other programs drive through standard input and output. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "cli/parse.h"
#include "serve/server.h"

enum { KEY_SERVER = 256, KEY_BINARY, KEY_SOCKET, KEY_BACKEND, KEY_MAX_FRAME };

enum { DEFAULT_LIMIT = 1 << 30 };

typedef struct arguments {
    const tki_serve_program *program;
    const char *device;
    const char *socket;
    bool server;
    bool binary;
    uint64_t limit;
} arguments;

static const struct argp_option option_list[] = {
    {"server", KEY_SERVER, NULL, 0, "Serve request after request, each a frame, until the input ends", 0},
    {"binary", KEY_BINARY, NULL, 0, "Binary frames, also for bf16; without --server or --socket, one", 0},
    {"socket", KEY_SOCKET, "PATH", 0, "Serve frames on a Unix socket, until SIGTERM or SIGINT", 0},
    {"backend", KEY_BACKEND, "NAME", 0, "Where kernels run: cpu (default), cuda, hip; cuda:1 is the second device",
     0},
    {"max-frame", KEY_MAX_FRAME, "BYTES", 0, "The longest request and reply, below 4 GiB (default 1 GiB)", 0},
    {0},
};

static void find_program(arguments *a, const char *name, struct argp_state *state)
{
    const char *names[8];
    int count = 0;
    if (a->program)
        argp_error(state, "one program at a time, please");
    a->program = tki_serve_program_find(name);
    if (a->program)
        return;
    for (; count < 8 && tki_serve_program_at(count); count++)
        names[count] = tki_serve_program_at(count)->name;
    cli_complain_unknown(state->name, "program", name, names, count);
    exit(CLI_BAD);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_SERVER: a->server = true; return 0;
    case KEY_BINARY: a->binary = true; return 0;
    case KEY_SOCKET: a->socket = argument; return 0;
    case KEY_BACKEND: a->device = argument; return 0;
    case KEY_MAX_FRAME:
        if (!cli_parse_unsigned(argument, &a->limit) || a->limit == 0 || a->limit > UINT32_MAX)
            argp_error(state, "--max-frame: '%s' is no number of bytes from 1 to %lu", argument,
                       (unsigned long)UINT32_MAX);
        return 0;
    case ARGP_KEY_ARG: find_program(a, argument, state); return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which program? There are gelu-bwd, softmax, gemm-bw and embedding");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "gelu-bwd|softmax|gemm-bw|embedding",
    .doc = "Reads a request, numbers as text, from standard input and writes the reply, KEY=value lines, to standard "
           "output. fp16 values travel as their 16-bit patterns, in decimal. With --server, requests and replies are "
           "frames: a little-endian u32 length, then that many bytes. docs/protocol.md has the binary frames."
           "\vRequests:\n"
           "  gelu-bwd   N, grad_output, input\n"
           "  softmax    0 ROWS COLS, input; or 1 ROWS COLS, grad_output, softmax_output\n"
           "  gemm-bw    1 M N K, grad_C, B; or 2 M N K, grad_C, A\n"
           "  embedding  QUERIES DIM VOCAB 0, indices, weight; or ... 1, indices, grad_output\n\n"
           "Exit status: 0 done, 2 header unreadable or wrong usage, 3 to 9 a wrong or missing number, 10 device "
           "error, 11 an index out of range, 20 to 22 a cut or overlong frame, 23 the reply could not be written.",
};

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
                                         .device = a->device,
                                         .limit = a->limit,
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
    if (tki_service_open(ctx, a->program, a->device, a->limit, &service) != TK_OK)
        return TKI_SERVE_DEVICE;
    int result = a->server || a->binary
                     ? tki_serve_frames(service, STDIN_FILENO, STDOUT_FILENO, a->binary, !a->server, NULL)
                     : tki_serve_once(service, STDIN_FILENO, STDOUT_FILENO);
    tki_service_close(service);
    return result;
}

cli_exit cli_kernel(int argc, char **argv)
{
    arguments a = {.device = "cpu", .limit = DEFAULT_LIMIT};
    if (cli_parse(&command, argc, argv, 0, &a) != 0)
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
