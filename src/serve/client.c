/* SHOWS. Kernel servers kept running: restarts with growing pauses, one request and one reply at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/context.h"
#include "core/sized_options.h"
#include "isolate/wire_case.h"
#include "model/lowering.h"
#include "serve/child_process.h"
#include "serve/frames.h"
#include "tokitai_serve.h"

enum {
    LARGE = 1 << 18,     /* bytes of arrays from which shared memory is quicker than the frame */
    HEAD_OF_TEXT = 4096, /* the fields before the elements are within this */
    SHOWN_ERRORS = 256
};

static const double grace_seconds = 1; /* for a program to end by itself */

struct tk_server {
    tk_server_options options;
    char **argv; /* one block, the strings behind it */
    tki_peer child;
    int failures; /* in a row */
    double not_before;
    tki_block reply;
    /* Memory shared with the program. It only grows, and outlives it. */
    int memory_file;
    void *memory;
    size_t memory_bytes;
};

/* ------------------------------------------------------------------------------------------------------------
 * Opening and closing
 * ------------------------------------------------------------------------------------------------------------ */

static char **copy_arguments(char *const argv[])
{
    size_t count = 0, bytes = 0;
    for (; argv[count]; count++)
        bytes += strlen(argv[count]) + 1;
    char **copy = malloc((count + 1) * sizeof *copy + bytes);
    if (!copy)
        return NULL;
    char *to = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        copy[i] = to;
        to = stpcpy(to, argv[i]) + 1;
    }
    copy[count] = NULL;
    return copy;
}

/* After a failure the next start has to wait, twice as long for each in a row. */
static void note_failure(tk_server *server)
{
    double pause = server->options.restart_seconds;
    for (int i = 0; i < server->failures && pause < server->options.restart_most_seconds; i++)
        pause *= 2;
    if (pause > server->options.restart_most_seconds)
        pause = server->options.restart_most_seconds;
    server->failures += server->failures < 1000;
    server->not_before = tki_now() + pause;
}

static tk_status start(tk_ctx *ctx, tk_server *server)
{
    int error = tki_peer_start(&server->child, server->argv);
    if (!error)
        return TK_OK;
    note_failure(server);
    return tki_fail(ctx, TK_UNAVAILABLE, "cannot start %s: %s", server->argv[0], strerror(error));
}

tk_status tk_server_open(tk_ctx *ctx, char *const argv[], const tk_server_options *options, tk_server **server)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!server)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "server must not be NULL");
    *server = NULL;
    tk_server_options chosen = TK_SERVER_DEFAULTS;
    tk_status status = tki_options_take(ctx, "tk_server_options", options, &chosen, sizeof chosen);
    if (status != TK_OK)
        return status;
    if (!argv || !argv[0])
        return tki_fail(ctx, TK_BAD_ARGUMENT, "argv names no program");
    if (!(chosen.call_seconds > 0) || !(chosen.restart_seconds >= 0) ||
        !(chosen.restart_most_seconds >= chosen.restart_seconds) || chosen.reply_bytes == 0)
        return tki_fail(
            ctx, TK_BAD_ARGUMENT,
            "call_seconds and reply_bytes must be above 0, restart_most_seconds at least restart_seconds");
    tk_server *opened = calloc(1, sizeof *opened);
    char **arguments = copy_arguments(argv);
    if (!opened || !arguments) {
        free(opened);
        free(arguments);
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a server");
    }
    opened->options = chosen;
    opened->argv = arguments;
    opened->memory_file = -1;
    opened->child.wait_status = -1;
    status = start(ctx, opened);
    if (status == TK_OK)
        *server = opened;
    else
        tk_server_close(opened);
    return status;
}

void tk_server_close(tk_server *server)
{
    if (!server)
        return;
    tki_peer_end(&server->child, grace_seconds);
    if (server->memory)
        munmap(server->memory, server->memory_bytes);
    if (server->memory_file >= 0)
        close(server->memory_file);
    tki_block_free(&server->reply);
    free(server->argv);
    free(server);
}

int tk_server_starts(const tk_server *server)
{
    return server->child.starts;
}

int tk_server_wait_status(const tk_server *server)
{
    return server->child.wait_status;
}

const char *tk_server_errors(const tk_server *server)
{
    return server->child.log;
}

/* ------------------------------------------------------------------------------------------------------------
 * One request
 * ------------------------------------------------------------------------------------------------------------ */

/* A program that runs and is silent. */
static tk_status make_ready(tk_ctx *ctx, tk_server *server, double deadline)
{
    if (server->child.process && tki_peer_is_quiet(&server->child))
        return TK_OK;
    if (server->child.process) {
        tki_peer_end(&server->child, 0);
        note_failure(server);
    }
    if (server->not_before > deadline)
        return tki_fail(ctx, TK_UNAVAILABLE, "%s failed %d times in a row; next restart in %.1f s", server->argv[0],
                        server->failures, server->not_before - tki_now());
    for (double left; (left = server->not_before - tki_now()) > 0;)
        nanosleep(&(struct timespec){.tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)},
                  NULL);
    return start(ctx, server);
}

static const char *last_errors(const tk_server *server)
{
    size_t length = server->child.log_length;
    return server->child.log + (length > SHOWN_ERRORS ? length - SHOWN_ERRORS : 0);
}

/* The status of a request that was refused with that exit status. */
static tk_status status_of_exit(int code)
{
    switch (code) {
    case TKI_SERVE_DEVICE: return TK_UNAVAILABLE;
    case TKI_SERVE_BAD_INDEX: return TK_BAD_INDEX;
    default: return TK_BAD_ARGUMENT;
    }
}

static tk_status fail_ended(tk_ctx *ctx, tk_server *server)
{
    /* It may be about to exit; and what it says at its end is worth waiting for. */
    tki_peer_end(&server->child, grace_seconds);
    int status = server->child.wait_status;
    const char *errors = last_errors(server), *colon = *errors ? ": " : "";
    if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == TKI_SERVE_TOO_LONG)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s does not accept a request of this length%s%s", server->argv[0],
                        colon, errors);
    note_failure(server);
    if (status != -1 && WIFSIGNALED(status))
        return tki_fail(ctx, TK_KERNEL_FAULT, "%s ended by signal %d (%s) without a reply%s%s", server->argv[0],
                        WTERMSIG(status), strsignal(WTERMSIG(status)), colon, errors);
    return tki_fail(ctx, TK_KERNEL_FAULT, "%s ended with exit status %d without a reply%s%s", server->argv[0],
                    status != -1 ? WEXITSTATUS(status) : -1, colon, errors);
}

/* Ends a program that cannot be trusted to answer the next request. */
static tk_status fail_broken(tk_ctx *ctx, tk_server *server, const char *what)
{
    tki_peer_end(&server->child, 0);
    note_failure(server);
    return tki_fail(ctx, TK_KERNEL_FAULT, "%s: %s", server->argv[0], what);
}

/* Sends the parts (parts[0] is for the length) and receives the reply. */
static tk_status exchange(tk_ctx *ctx, tk_server *server, struct iovec *parts, int count, int file,
                          size_t *reply_bytes)
{
    double deadline = tki_now() + server->options.call_seconds;
    tk_status status = make_ready(ctx, server, deadline);
    if (status != TK_OK)
        return status;
    unsigned char bytes[TKI_FRAME_LENGTH_BYTES];
    tki_frame_complete(parts, count, bytes);
    switch (tki_peer_exchange(&server->child, parts, count, file, deadline, server->options.reply_bytes,
                              &server->reply, reply_bytes)) {
    case TKI_EXCHANGE_DONE: ((char *)server->reply.data)[*reply_bytes] = '\0'; return TK_OK;
    case TKI_EXCHANGE_ENDED: return fail_ended(ctx, server);
    case TKI_EXCHANGE_TOO_LONG: return fail_broken(ctx, server, "a reply exceeds reply_bytes");
    case TKI_EXCHANGE_NO_MEMORY:
        tki_peer_end(&server->child, 0);
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a reply");
    case TKI_EXCHANGE_LATE: break;
    }
    tki_peer_end(&server->child, 0);
    note_failure(server);
    return tki_fail(ctx, TK_TIMEOUT, "%s did not reply within %g s and was ended", server->argv[0],
                    server->options.call_seconds);
}

/* By the protocol a program that has refused a request exits; this is no failure of the program. */
static tk_status refuse(tk_ctx *ctx, tk_server *server, const char *text, size_t length, int code)
{
    while (length > 0 && text[length - 1] == '\n')
        length--;
    tki_peer_end(&server->child, grace_seconds);
    int status = server->child.wait_status;
    server->failures = 0;
    if (code < 0)
        code = status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : TKI_SERVE_BAD_HEADER;
    return tki_fail(ctx, status_of_exit(code), "%.*s", (int)(length < 1024 ? length : 1024), text);
}

static bool has_elements(const char *text, size_t length)
{
    if (length > HEAD_OF_TEXT)
        length = HEAD_OF_TEXT;
    return memmem(text, length, "\nRESULTS=", 9) || memmem(text, length, "\nOUTPUT=", 8);
}

tk_status tk_server_call(tk_ctx *ctx, tk_server *server, const void *request, size_t request_bytes,
                         const void **reply, size_t *reply_bytes)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (reply)
        *reply = NULL;
    if (reply_bytes)
        *reply_bytes = 0;
    if (!server || (!request && request_bytes > 0) || request_bytes > UINT32_MAX)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "server and request must not be NULL; a request must be under 4 GiB");
    struct iovec parts[] = {{0}, {tki_input(request), request_bytes}};
    size_t length;
    tk_status status = exchange(ctx, server, parts, 2, -1, &length);
    if (status != TK_OK)
        return status;
    if (reply)
        *reply = server->reply.data;
    if (reply_bytes)
        *reply_bytes = length;
    if (!server->options.binary) {
        if (!has_elements(server->reply.data, length))
            return refuse(ctx, server, server->reply.data, length, -1);
    } else {
        tki_wire_header header = {0};
        if (request_bytes >= sizeof header)
            memcpy(&header, request, sizeof header);
        const char *wrong = tki_wire_check_reply(server->reply.data, length, TKI_WIRE_REPLY, header.nonce, 0);
        if (wrong)
            return fail_broken(ctx, server, wrong);
        const tki_wire_reply *fixed = server->reply.data;
        if (fixed->status != 0)
            return refuse(ctx, server, tki_wire_reply_text(fixed), fixed->text_bytes, fixed->status);
    }
    server->failures = 0;
    return TK_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 * A case
 * ------------------------------------------------------------------------------------------------------------ */

static tk_status reserve_memory(tk_ctx *ctx, tk_server *server, size_t bytes)
{
    if (bytes <= server->memory_bytes)
        return TK_OK;
    /* Sealed against shrinking, as the program demands; a larger one is another. */
    int file = memfd_create("tokitai arrays", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *memory = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)bytes) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        int error = errno;
        if (file >= 0)
            close(file);
        return tki_fail(ctx, TK_NO_MEMORY, "cannot share %zu bytes of memory: %s", bytes, strerror(error));
    }
    if (server->memory)
        munmap(server->memory, server->memory_bytes);
    if (server->memory_file >= 0)
        close(server->memory_file);
    server->memory_file = file;
    server->memory = memory;
    server->memory_bytes = bytes;
    return TK_OK;
}

/* The call, arrays one behind the other from `place` on. Returns where they end; outputs count with `shared` only. */
static uint64_t describe(const tk_case *c, int threads, bool shared, tki_wire_call *call)
{
    tki_wire_describe(c, threads, call);
    uint64_t place = shared ? 0 : tki_wire_call_bytes(&call->head);
    for (int p = 0; p < c->contract->param_count; p++) {
        tki_wire_buffer *buffer = &call->buffers[p];
        buffer->memory = shared ? 0 : TKI_WIRE_INLINE;
        if (shared || !buffer->output) {
            buffer->place = place;
            place += (buffer->bytes + 7) / 8 * 8;
        }
    }
    return place;
}

/* Copies the outputs out, and inputs that the program has changed, once all of them are known to be there. */
static const char *take_arrays(const tk_server *server, const tki_wire_call *call, const tki_wire_reply *reply,
                               void *const buffers[])
{
    if (reply->buffer_count != call->head.buffer_count)
        return "a reply lacks arrays";
    for (int p = 0; p < call->head.buffer_count; p++) {
        const tki_wire_buffer *asked = &call->buffers[p], *given = &tki_wire_reply_buffers(reply)[p];
        const bool elsewhere = given->bytes != asked->bytes || given->memory != asked->memory ||
                               (asked->memory != TKI_WIRE_INLINE && given->place != asked->place);
        if (elsewhere && asked->output)
            return "an output is not where the call placed it";
        if (elsewhere && given->memory != TKI_WIRE_NOWHERE)
            return "a returned input does not match the call";
    }
    /* Inputs first: an output may lie over one. */
    for (uint32_t outputs = 0; outputs <= 1; outputs++)
        for (int p = 0; p < call->head.buffer_count; p++) {
            const tki_wire_buffer *given = &tki_wire_reply_buffers(reply)[p];
            const char *from = given->memory == TKI_WIRE_INLINE ? (const char *)reply : server->memory;
            if (call->buffers[p].output == outputs && given->memory != TKI_WIRE_NOWHERE && given->bytes > 0)
                memcpy(buffers[p], from + given->place, given->bytes);
        }
    return NULL;
}

tk_status tk_server_run(tk_ctx *ctx, tk_server *server, const tk_case *c, void *const buffers[], double *seconds)
{
    static const char padding[8];
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!server || !server->options.binary)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "server must be one opened with binary");
    tk_status status = tk_case_check(ctx, c, buffers);
    if (status != TK_OK)
        return status;
    tki_wire_call call;
    _Alignas(8) unsigned char packed[sizeof call];
    bool shared = describe(c, ctx->threads, false, &call) >= LARGE;
    uint64_t end = describe(c, ctx->threads, shared, &call);
    if (getrandom(&call.head.header.nonce, sizeof call.head.header.nonce, 0) != sizeof call.head.header.nonce)
        return tki_fail(ctx, TK_IO, "cannot draw random numbers: %s", strerror(errno));
    if (shared)
        status = reserve_memory(ctx, server, end);
    if (status != TK_OK)
        return status;
    struct iovec parts[2 + 2 * TK_MAX_PARAMS] = {{0}, {packed, tki_wire_call_bytes(&call.head)}};
    tki_wire_pack_call(&call, packed);
    int count = 2;
    for (int p = 0; p < call.head.buffer_count; p++) {
        const tki_wire_buffer *buffer = &call.buffers[p];
        if (buffer->output || buffer->bytes == 0)
            continue;
        if (shared) {
            memcpy((char *)server->memory + buffer->place, buffers[p], buffer->bytes);
        } else {
            parts[count++] = (struct iovec){buffers[p], buffer->bytes};
            parts[count++] = (struct iovec){tki_input(padding), -buffer->bytes % 8};
        }
    }
    size_t length;
    status = exchange(ctx, server, parts, count, shared ? server->memory_file : -1, &length);
    if (status != TK_OK)
        return status;
    const tki_wire_reply *reply = server->reply.data;
    const char *wrong = tki_wire_check_reply(reply, length, TKI_WIRE_REPLY, call.head.header.nonce, shared);
    if (!wrong && reply->status != 0)
        return refuse(ctx, server, tki_wire_reply_text(reply), reply->text_bytes, reply->status);
    if (!wrong)
        wrong = take_arrays(server, &call, reply, buffers);
    if (wrong)
        return fail_broken(ctx, server, wrong);
    server->failures = 0;
    if (seconds)
        *seconds = reply->seconds;
    return TK_OK;
}
