/* Kernel servers, of libtokitai-serve. Read tokitai.h first: its rules hold here too.
 *
 * A kernel server is a program that answers requests on its standard input and output, in frames
 * (docs/protocol.md): `tokitai kernel gelu-bwd --server`, or any other that speaks the same protocol. A tk_server
 * starts one, restarts it if it ended or failed, and gives every call a deadline:
 *
 *     char *const program[] = {"tokitai", "kernel", "gelu-bwd", "--server", NULL};
 *     tk_server_open(ctx, program, NULL, &server);
 *     tk_server_call(ctx, server, "1 15360 0", 9, &reply, &reply_bytes);
 *     tk_server_close(server);
 *
 * A reply is never assigned to another request: a program that missed a deadline, violated the protocol or sent
 * unsolicited output is killed, with its descendants in its process group, and nothing more is read from it. A
 * request is sent once and not repeated. No signal is raised in the caller. A server serves one thread at a time;
 * several can be used concurrently.
 */
#ifndef TOKITAI_SERVE_H
#define TOKITAI_SERVE_H

#include "tokitai.h"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tk_server tk_server;

/* Start from TK_SERVER_DEFAULTS. */
typedef struct tk_server_options {
    size_t size;                 /* of this struct, set by the defaults */
    double call_seconds;         /* deadline of a call, including a restart and the delay before it */
    double restart_seconds;      /* delay before the restart after a failure; doubles with each consecutive failure */
    double restart_most_seconds; /* up to this */
    bool binary;                 /* frames are binary calls and replies; else text */
    size_t reply_bytes;          /* the longest reply that is accepted */
} tk_server_options;

#define TK_SERVER_DEFAULTS                                  \
    ((tk_server_options){.size = sizeof(tk_server_options), \
                         .call_seconds = 60,                \
                         .restart_seconds = 0.1,            \
                         .restart_most_seconds = 10,        \
                         .reply_bytes = (size_t)1 << 30})

/* `argv` as for execvp(), terminated by NULL; it is copied, as are the options (NULL: the defaults). The program
 * inherits the caller's environment and working directory, but no descriptors beyond 0, 1 and 2. TK_UNAVAILABLE if
 * it cannot be started. */
TK_MUST_USE tk_status tk_server_open(tk_ctx *ctx, char *const argv[], const tk_server_options *options,
                                     tk_server **server);
/* Closes the input, waits briefly, kills; leaves no process behind. NULL is allowed. */
void tk_server_close(tk_server *server);

/* Sends one frame and waits for the reply, which is valid until the next call. `reply` and `reply_bytes` may be NULL.
 *   TK_BAD_ARGUMENT, TK_BAD_INDEX, TK_UNAVAILABLE
 *                     the program refused the request, and its message is the context's: a text without a line of
 *                     elements, a binary status, or exit status 22
 *   TK_TIMEOUT        no complete reply within the deadline
 *   TK_KERNEL_FAULT   it ended without a reply, or sent an invalid one
 *   TK_UNAVAILABLE    it failed too often: the delay before the next start would exceed the deadline, or it cannot
 *                     be started
 * The next call starts it again. */
TK_MUST_USE tk_status tk_server_call(tk_ctx *ctx, tk_server *server, const void *request, size_t request_bytes,
                                     const void **reply, size_t *reply_bytes);

/* The same for a case, with a program that speaks the binary protocol: host buffers in contract order, as for
 * tk_run(). Large arrays go through shared memory. `seconds` (may be NULL): the kernel's time as measured by the
 * program. An input that the program says it has changed is changed in `buffers` too. A call that fails has written
 * nothing. */
TK_MUST_USE tk_status tk_server_run(tk_ctx *ctx, tk_server *server, const tk_case *c, void *const buffers[],
                                    double *seconds);

/* The number of times the program has been started, and the wait status (as of waitpid()) of the last one that
 * ended, -1 if none did. */
int tk_server_starts(const tk_server *server);
int tk_server_wait_status(const tk_server *server);

/* The last 16 KiB that the programs wrote to standard error. Valid until the next call. */
const char *tk_server_errors(const tk_server *server);

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
