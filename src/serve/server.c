/* SHOWS. The loops around a service. */
#include "serve/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/context.h"
#include "model/lowering.h"
#include "serve/binary.h"
#include "serve/frames.h"

enum { FIRST_READ = 1 << 16, PIPE_BYTES = 1 << 20 };

static int fail_read(tki_service *service, int error, int result, const char *what)
{
    return tki_service_fail(service, result, TK_IO, "%s%s%s", what, error ? ": " : "", error ? strerror(error) : "");
}

static int fail_too_long(tki_service *service)
{
    return tki_service_fail(service, TKI_SERVE_TOO_LONG, TK_BAD_ARGUMENT, "a request exceeds the limit of %zu bytes",
                            service->limit);
}

static int write_reply(tki_service *service, int output, struct iovec *parts, int count)
{
    if (tki_write_whole(output, parts, count))
        return TKI_SERVE_DONE;
    return tki_service_fail(service, TKI_SERVE_UNWRITTEN, TK_IO, "cannot write the reply: %s", strerror(errno));
}

static int fail_memory(tki_service *service)
{
    return tki_service_fail(service, TKI_SERVE_DEVICE, TK_NO_MEMORY, "no memory for the request");
}

int tki_serve_once(tki_service *service, int input, int output)
{
    size_t room = FIRST_READ, length = 0;
    char *text = malloc(room + TKI_TEXT_SLACK);
    int result = text ? TKI_SERVE_DONE : fail_memory(service);
    while (result == TKI_SERVE_DONE) {
        length += tki_read_whole(input, text + length, room - length);
        if (errno)
            result = fail_read(service, errno, TKI_SERVE_BAD_HEADER, "cannot read the request");
        else if (length > service->limit)
            result = fail_too_long(service);
        if (length < room || result != TKI_SERVE_DONE)
            break;
        room *= 2;
        char *more = realloc(text, room + TKI_TEXT_SLACK);
        if (!more) {
            result = fail_memory(service);
            break;
        }
        text = more;
    }
    const char *reply;
    size_t reply_length;
    if (result == TKI_SERVE_DONE) {
        memset(text + length, 0, TKI_TEXT_SLACK);
        result = tki_service_text(service, text, length, &reply, &reply_length);
    }
    if (result == TKI_SERVE_DONE)
        result = write_reply(service, output, &(struct iovec){tki_input(reply), reply_length}, 1);
    free(text);
    return result;
}

/* What the loop over frames keeps. */
typedef struct channel {
    tki_service *service;
    int input, output;
    tki_block request;
    int files[TKI_FRAME_FILES]; /* that came with the present frame */
    int file_count;
    tki_shared_set shared;
    tki_serve_watch *watch; /* or NULL */
} channel;

static void now_waits(const channel *c, bool inside)
{
    if (!c->watch)
        return;
    atomic_store(&c->watch->inside, inside);
    atomic_store(&c->watch->since, tki_now());
}

static void now_works(const channel *c)
{
    if (c->watch)
        atomic_store(&c->watch->since, 0);
}

/* Receives the length of the next frame. TKI_SERVE_DONE with *end set if the input ended before it. */
static int read_length(channel *c, size_t *length, bool *end)
{
    unsigned char bytes[TKI_FRAME_LENGTH_BYTES];
    size_t got = tki_read_with_files(c->input, bytes, sizeof bytes, c->files, &c->file_count);
    *end = got == 0 && errno == 0;
    if (*end)
        return TKI_SERVE_DONE;
    if (got < sizeof bytes)
        return fail_read(c->service, errno, TKI_SERVE_CUT_LENGTH, "the input ended inside the length of a frame");
    *length = tki_frame_length(bytes);
    return *length > c->service->limit ? fail_too_long(c->service) : TKI_SERVE_DONE;
}

static int read_payload(channel *c, size_t length)
{
    if (!tki_block_reserve(&c->request, length + TKI_TEXT_SLACK))
        return fail_memory(c->service);
    if (tki_read_whole(c->input, c->request.data, length) < length)
        return fail_read(c->service, errno, TKI_SERVE_CUT_PAYLOAD, "the input ended inside a frame");
    memset((char *)c->request.data + length, 0, TKI_TEXT_SLACK);
    return TKI_SERVE_DONE;
}

/* parts[0] is for the length. */
static int answer(channel *c, struct iovec *parts, int count)
{
    unsigned char bytes[TKI_FRAME_LENGTH_BYTES];
    tki_frame_complete(parts, count, bytes);
    now_waits(c, true);
    return write_reply(c->service, c->output, parts, count);
}

static int serve_text(channel *c, size_t length)
{
    const char *reply;
    size_t reply_length;
    int result = tki_service_text(c->service, c->request.data, length, &reply, &reply_length);
    int written = answer(c, (struct iovec[]){{0}, {tki_input(reply), reply_length}}, 2);
    return result == TKI_SERVE_DONE ? written : result;
}

static int serve_binary(channel *c, size_t length)
{
    tki_binary_reply reply;
    int count = c->file_count > 0 ? c->file_count : 0;
    int result = tki_service_binary(c->service, c->request.data, length, c->files, count, &c->shared, &reply);
    struct iovec parts[] = {{0},
                            {&reply.fixed, sizeof reply.fixed},
                            {reply.buffers, (size_t)reply.fixed.buffer_count * sizeof *reply.buffers},
                            {reply.text, reply.text_bytes},
                            {tki_input(reply.array), reply.array_bytes}};
    int written = answer(c, parts, (int)(sizeof parts / sizeof *parts));
    return result == TKI_SERVE_DONE ? written : result;
}

static int serve_frame(channel *c, bool binary, bool *end)
{
    size_t length = 0;
    c->file_count = 0;
    now_waits(c, false);
    int result = read_length(c, &length, end);
    now_waits(c, true);
    if (result == TKI_SERVE_DONE && !*end)
        result = read_payload(c, length);
    now_works(c);
    if (result == TKI_SERVE_DONE && !*end)
        result = binary ? serve_binary(c, length) : serve_text(c, length);
    while (c->file_count > 0)
        close(c->files[--c->file_count]);
    return result;
}

int tki_serve_frames(tki_service *service, int input, int output, bool binary, bool only_one, tki_serve_watch *watch)
{
    channel c = {.service = service, .input = input, .output = output, .watch = watch};
    bool end = false;
    int result;
    /* Large frames in few steps, where these are pipes; where they are not, nothing happens. */
    fcntl(input, F_SETPIPE_SZ, PIPE_BYTES);
    fcntl(output, F_SETPIPE_SZ, PIPE_BYTES);
    do
        result = serve_frame(&c, binary, &end);
    while (result == TKI_SERVE_DONE && !end && !only_one);
    tki_block_free(&c.request);
    tki_shared_unmap(&c.shared);
    return result;
}
