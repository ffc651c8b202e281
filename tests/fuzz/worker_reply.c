/* Fuzz target: a packet from a worker, through the socket and the judge of replies; and the same bytes as a call, as a kernel program gets
 * it. The first byte says what is expected. Whatever comes, each outcome has its words, and what is accepted is what was asked for. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "isolate/confinement.h"
#include "isolate/worker_reply.h"
#include "isolate/worker_spawn.h"
#include "tests/fuzz/escape.h"

enum { NONCE = 7 };

static void try_reply(tk_ctx *ctx, const tki_frame *frame, tki_wire_kind kind, const tk_case *c)
{
    const tki_wire_reply *reply;
    tk_status status = tki_reply_judge(ctx, frame->bytes, frame->size, kind, NONCE, c, &reply);
    if (status != TK_OK) {
        assert(tk_ctx_message(ctx)[0] && is_visible(tk_ctx_message(ctx), ""));
        assert(status == TK_KERNEL_FAULT || (status == TK_UNSUPPORTED && c) ||
               ((status == TK_BAD_FILE || status == TK_UNAVAILABLE) && !c));
        return;
    }
    assert(reply->header.nonce == NONCE && reply->header.kind == (uint32_t)kind && reply->status == TKI_WIRE_DONE);
    assert(reply->buffer_count >= 0 && frame->size >= tki_wire_reply_bytes(reply) &&
           reply->text_bytes <= frame->size - tki_wire_reply_bytes(reply));
    tki_confinement confinement;
    tki_confinement_read(reply, TKI_SANITIZER_MEMCHECK, &confinement);
    assert(confinement.count > 0 && confinement.count <= TKI_MOST_MEANS);
    for (int i = 0; i < confinement.count; i++) {
        char line[TKI_MEANS_TEXT];
        tki_means_text(&confinement.means[i], line, sizeof line);
        assert(line[0] && is_visible(line, ""));
    }
    for (int i = 0; i < reply->buffer_count; i++) {
        const tki_wire_buffer *b = &tki_wire_reply_buffers(reply)[i];
        if (b->memory == TKI_WIRE_INLINE)
            assert(tki_wire_within(b->place, b->bytes, frame->size));
    }
}

/* In a block of exactly its size, for the sanitizers; what was read gives the same bytes again. */
static void try_call(const tki_frame *frame)
{
    static tki_wire_call call, packed;
    void *copy = malloc(frame->size ? frame->size : 1);
    if (!copy)
        return;
    memcpy(copy, frame->bytes, frame->size);
    const char *wrong = tki_wire_read_call(copy, frame->size, 2, true, &call);
    const size_t fixed = wrong ? 0 : tki_wire_call_bytes(&call.head);
    if (!wrong) {
        assert(fixed <= frame->size && fixed <= sizeof packed);
        tki_wire_pack_call(&call, &packed);
        assert(!memcmp(&packed, copy, fixed));
    }
    free(copy);
    if (wrong)
        return;
    assert(strlen(call.head.op) < sizeof call.head.op && call.head.buffer_count <= TKI_WIRE_BUFFERS);
    for (int i = 0; i < call.head.attribute_count; i++)
        assert(strlen(call.attributes[i].name) < TKI_WIRE_NAME);
    for (int i = 0; i < call.head.buffer_count; i++) {
        const tki_wire_buffer *b = &call.buffers[i];
        assert(strlen(b->name) < TKI_WIRE_NAME && b->rank >= 1 && b->rank <= TKI_WIRE_RANK);
        assert(b->memory >= TKI_WIRE_ARENA && b->memory < 2);
        if (b->memory == TKI_WIRE_ARENA)
            assert(!b->output && b->place >= (uint64_t)i * TKI_WIRE_SLOT && b->bytes <= TKI_WIRE_SLOT &&
                   b->place + b->bytes <= ((uint64_t)i + 1) * TKI_WIRE_SLOT);
        if (b->memory == TKI_WIRE_INLINE && !b->output)
            assert(b->place % 8 == 0 && b->place >= fixed && tki_wire_within(b->place, b->bytes, frame->size));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    tk_ctx *ctx;
    static tki_frame frame;
    if (size < 1 || size > 2 * sizeof frame.bytes || tk_ctx_create(&ctx) != TK_OK)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    tki_child child = {.frames = ends[0], .control = -1, .output = -1};
    if (send(ends[1], data + 1, size - 1, 0) != (ssize_t)size - 1)
        abort();
    close(ends[1]);
    tki_receipt receipt = tki_child_receive(&child, 0, &frame);
    assert((receipt == TKI_RECEIPT_GARBLED) == (size - 1 > sizeof frame.bytes));
    if (receipt == TKI_RECEIPT_FRAME) {
        assert(frame.size == size - 1 && !memcmp(frame.bytes, data + 1, frame.size));
        tk_case c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
        c.dims[0] = 100;
        tki_wire_kind kind = (tki_wire_kind)(data[0] % (TKI_WIRE_CONFINED + 1));
        try_reply(ctx, &frame, kind, data[0] & 0x80 ? &c : NULL);
        try_call(&frame);
    }
    close(ends[0]);
    tk_ctx_destroy(ctx);
    return 0;
}
