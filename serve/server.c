/* The loops around a service. */
#include "serve/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "serve/frames.h"

enum { FIRST_READ = 1 << 16 };

static int fail_read(tki_service *service, int error, int result, const char *what)
{
    tki_fail(tki_service_ctx(service), TK_IO, "%s: %s%s%s", tki_service_program(service)->name, what,
             error ? ": " : "", error ? strerror(error) : "");
    return result;
}

static int fail_too_long(tki_service *service)
{
    tki_fail(tki_service_ctx(service), TK_BAD_ARGUMENT, "%s: a request has more than the %zu bytes allowed",
             tki_service_program(service)->name, tki_service_limit(service));
    return TKI_SERVE_TOO_LONG;
}

static int write_reply(tki_service *service, int output, struct iovec *parts, int count)
{
    if (tki_write_whole(output, parts, count))
        return TKI_SERVE_DONE;
    tki_fail(tki_service_ctx(service), TK_IO, "%s: the reply could not be written: %s",
             tki_service_program(service)->name, strerror(errno));
    return TKI_SERVE_UNWRITTEN;
}

static int fail_memory(tki_service *service)
{
    tki_fail(tki_service_ctx(service), TK_NO_MEMORY, "%s: no memory for the request",
             tki_service_program(service)->name);
    return TKI_SERVE_DEVICE;
}

int tki_serve_once(tki_service *service, int input, int output)
{
    size_t limit = tki_service_limit(service);
    size_t room = FIRST_READ, length = 0;
    char *text = malloc(room + TKI_TEXT_SLACK);
    int result = text ? TKI_SERVE_DONE : fail_memory(service);
    while (result == TKI_SERVE_DONE) {
        length += tki_read_whole(input, text + length, room - length);
        if (errno)
            result = fail_read(service, errno, TKI_SERVE_BAD_HEADER, "the request cannot be read");
        else if (length > limit)
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

/* Receives the length of the next frame. TKI_SERVE_DONE with *end set if the input ended before it. */
static int read_length(tki_service *service, int input, size_t *length, bool *end)
{
    unsigned char bytes[TKI_FRAME_LENGTH_BYTES];
    size_t got = tki_read_whole(input, bytes, sizeof bytes);
    *end = got == 0 && errno == 0;
    if (*end)
        return TKI_SERVE_DONE;
    if (got < sizeof bytes)
        return fail_read(service, errno, TKI_SERVE_CUT_LENGTH, "the input ended inside the length of a frame");
    *length = tki_frame_length(bytes);
    return *length > tki_service_limit(service) ? fail_too_long(service) : TKI_SERVE_DONE;
}

static int answer(tki_service *service, int output, const char *reply, size_t length)
{
    unsigned char bytes[TKI_FRAME_LENGTH_BYTES];
    tki_frame_put_length(bytes, (uint32_t)length);
    struct iovec parts[] = {{bytes, sizeof bytes}, {tki_input(reply), length}};
    return write_reply(service, output, parts, 2);
}

static int serve_text_frame(tki_service *service, int output, int input, size_t length, tki_block *text)
{
    const char *reply;
    size_t reply_length;
    if (!tki_block_reserve(text, length + TKI_TEXT_SLACK))
        return fail_memory(service);
    if (tki_read_whole(input, text->data, length) < length)
        return fail_read(service, errno, TKI_SERVE_CUT_PAYLOAD, "the input ended inside a frame");
    memset((char *)text->data + length, 0, TKI_TEXT_SLACK);
    int result = tki_service_text(service, text->data, length, &reply, &reply_length);
    int written = answer(service, output, reply, reply_length);
    return result == TKI_SERVE_DONE ? written : result;
}

int tki_serve_frames(tki_service *service, int input, int output)
{
    tki_block text = {0};
    size_t length = 0;
    bool end = false;
    int result;
    do {
        result = read_length(service, input, &length, &end);
        if (result == TKI_SERVE_DONE && !end)
            result = serve_text_frame(service, output, input, length, &text);
    } while (result == TKI_SERVE_DONE && !end);
    tki_block_free(&text);
    return result;
}
