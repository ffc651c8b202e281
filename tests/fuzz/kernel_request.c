/* Fuzz target: a request to a kernel program. The first byte chooses the program, and text or binary. Whatever comes, there is an exit
 * status that the protocol has and a reply; a request that is taken gives the same reply again. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "serve/binary.h"

enum { LIMIT = 1 << 16 };

static bool is_status(int status)
{
    return status == 0 || (status >= 2 && status <= 11);
}

/* The element lines only: times differ. */
static const char *elements(const char *reply, size_t length)
{
    for (const char *end = reply + length - 1; end > reply; end--)
        if (end[-1] == '\n')
            return end;
    return reply;
}

static void try_text(tki_service *service, const uint8_t *data, size_t size)
{
    const char *reply;
    size_t length;
    char *text = calloc(size + TKI_TEXT_SLACK, 1);
    if (!text)
        return;
    if (size > 0)
        memcpy(text, data, size);
    int status = tki_service_text(service, text, size, &reply, &length);
    assert(is_status(status) && length > 0 && length <= LIMIT && reply[length - 1] == '\n');
    if (status == 0) {
        const char *line = elements(reply, length);
        size_t bytes = (size_t)(reply + length - line);
        char *kept = malloc(bytes);
        if (kept) {
            memcpy(kept, line, bytes);
            int again = tki_service_text(service, text, size, &reply, &length);
            assert(again == 0 && length >= bytes && !memcmp(reply + length - bytes, kept, bytes));
        }
        free(kept);
    }
    free(text);
}

/* With one descriptor that is not there, so that places in shared memory are met too. */
static void try_binary(tki_service *service, const uint8_t *data, size_t size)
{
    static tki_binary_reply reply;
    tki_shared_set shared = {0};
    void *frame = malloc(size ? size : 1); /* aligned for its numbers, and not a byte longer */
    if (!frame)
        return;
    if (size > 0)
        memcpy(frame, data, size);
    int status = tki_service_binary(service, frame, size, (int[]){-1}, 1, &shared, &reply);
    assert(is_status(status) && reply.fixed.status == status);
    const size_t fixed = tki_wire_reply_bytes(&reply.fixed), before = fixed + reply.text_bytes;
    char *whole = malloc(before + reply.array_bytes);
    if (whole) {
        memcpy(whole, &reply.fixed, sizeof reply.fixed);
        memcpy(whole + sizeof reply.fixed, reply.buffers, fixed - sizeof reply.fixed);
        memcpy(whole + fixed, reply.text, reply.text_bytes);
        if (reply.array_bytes > 0)
            memcpy(whole + before, reply.array, reply.array_bytes);
        uint64_t nonce = size >= sizeof(tki_wire_header) ? ((tki_wire_header *)frame)->nonce : 0;
        assert(!tki_wire_check_reply(whole, before + reply.array_bytes, TKI_WIRE_REPLY, nonce, 1));
    }
    free(whole);
    tki_shared_unmap(&shared);
    free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tk_ctx *ctx;
    tki_service *service;
    if (size == 0 || tk_ctx_create(&ctx) != TK_OK)
        return 0;
    if (tk_ctx_set_threads(ctx, 1) == TK_OK &&
        tki_service_open(ctx, tki_serve_program_at(data[0] >> 1 & 3), "cpu", LIMIT, &service) == TK_OK) {
        if (data[0] & 1)
            try_binary(service, data + 1, size - 1);
        else
            try_text(service, data + 1, size - 1);
        tki_service_close(service);
    }
    tk_ctx_destroy(ctx);
    return 0;
}
