/* CHOOSES. Reading what a worker sends. */
#include "isolate/worker_reply.h"

#include <stdio.h>

#include "core/context.h"

bool tki_reply_is_signal(const void *frame, size_t bytes)
{
    const tki_wire_reply *reply = frame;
    return bytes >= sizeof *reply && reply->status == TKI_WIRE_SIGNAL &&
           !tki_wire_check_reply(frame, bytes, TKI_WIRE_REPLY, reply->header.nonce, 0);
}

tk_status tki_reply_explain_signal(tk_ctx *ctx, const void *frame, const tk_case *c)
{
    const tki_wire_reply *reply = frame;
    const tk_contract *contract = c ? c->contract : NULL;
    tki_fault fault = {.kind = TKI_FAULT_SIGNAL,
                       .tensor = -1,
                       .number = reply->detail,
                       .address = reply->address,
                       .wrote = reply->flags & TKI_WIRE_WROTE,
                       .late = reply->flags & TKI_WIRE_LATE};
    if (reply->flags & TKI_WIRE_HEAP)
        fault.kind = TKI_FAULT_HEAP;
    if (c && reply->param >= 0 && reply->param < contract->param_count) {
        fault.tensor = reply->param;
        fault.offset = reply->offset;
        fault.bytes = tk_case_elements(c, reply->param) *
                      (int64_t)tk_dtype_size(tk_case_param_dtype(c, reply->param));
        fault.input = !contract->params[reply->param].output;
        /* An input can be read while a call runs, whatever the processor tells. */
        fault.wrote |= fault.input && !fault.late && fault.offset >= 0 && fault.offset < fault.bytes;
    }
    return tki_fail_fault(ctx, &fault, contract, NULL);
}

static tk_status fail_forged(tk_ctx *ctx, const char *rule)
{
    return tki_fail_fault(ctx, &(tki_fault){TKI_FAULT_FORGED, .tensor = -1, .rule = rule}, NULL, NULL);
}

/* A frame that is what it should be. */
static tk_status explain(tk_ctx *ctx, const tki_wire_reply *reply)
{
    char text[1024]; /* as it came: it may be foreign code's */
    snprintf(text, sizeof text, "%.*s", (int)reply->text_bytes, tki_wire_reply_text(reply));
    switch (reply->status) {
    case TKI_WIRE_DONE: return TK_OK;
    case TKI_WIRE_REFUSED:
        return tki_fail_fault(ctx, &(tki_fault){TKI_FAULT_REFUSED, .tensor = -1, .number = reply->detail}, NULL,
                              NULL);
    case TKI_WIRE_NOT_LOADED:
        return reply->detail ? tki_fail(ctx, TK_UNAVAILABLE, "the worker has no device: %s", text)
                             : tki_fail(ctx, TK_BAD_FILE, "the kernel's library %s", text);
    case TKI_WIRE_NO_MEMORY: /* the worker's, of which the kernel may have taken all there is; this process has its own */
        return tki_fail(ctx, TK_UNSUPPORTED, "the worker has too little memory for this case: %s", text);
    case TKI_WIRE_TOO_NEW:
        return tki_fail(ctx, TK_UNSUPPORTED, "the kernel's function cannot take this case: %s", text);
    case TKI_WIRE_DEVICE_FAULT: return tki_fail_fault(ctx, &(tki_fault){TKI_FAULT_DEVICE, .tensor = -1}, NULL, text);
    case TKI_WIRE_HEAP_DAMAGED:
        return tki_fail_fault(ctx, &(tki_fault){TKI_FAULT_HEAP, .tensor = -1, .wrote = true}, NULL, NULL);
    default: return fail_forged(ctx, "unknown status");
    }
}

bool tki_reply_state(const tki_wire_reply *reply, tki_process_state *state)
{
    if (reply->text_bytes != sizeof *state)
        return false;
    memcpy(state, tki_wire_reply_text(reply), sizeof *state);
    return true;
}

tk_status tki_reply_judge(tk_ctx *ctx, const void *frame, size_t bytes, tki_wire_kind kind, uint64_t nonce,
                          const tk_case *c, const tki_wire_reply **reply)
{
    *reply = frame;
    if (tki_reply_is_signal(frame, bytes))
        return tki_reply_explain_signal(ctx, frame, c);
    const char *wrong = tki_wire_check_reply(frame, bytes, kind, nonce, 0);
    if (wrong)
        return fail_forged(ctx, wrong);
    tk_status status = explain(ctx, *reply);
    /* Loading refuses nothing but itself, and a call has been loaded. */
    if ((status == TK_UNSUPPORTED && !c) || ((status == TK_BAD_FILE || status == TK_UNAVAILABLE) && c))
        return fail_forged(ctx, "unexpected status");
    return status;
}
