/* Reading what a worker sends. */
#include "executor/reply.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "core/escape.h"

bool tki_reply_is_signal(const void *frame, size_t bytes)
{
    const tki_wire_reply *reply = frame;
    return bytes >= sizeof *reply && reply->status == TKI_WIRE_SIGNAL &&
           !tki_wire_check_reply(frame, bytes, TKI_WIRE_REPLY, reply->header.nonce, 0);
}

tk_status tki_reply_explain_signal(tk_ctx *ctx, const void *frame, const tk_case *c)
{
    const tki_wire_reply *reply = frame;
    char text[16], where[256] = "";
    tki_reply_text(reply, text, sizeof text);
    const char *late = !strcmp(text, "late") ? ", after it had returned" : "";
    if (c && reply->param >= 0 && reply->param < c->contract->param_count) {
        const tk_param *param = &c->contract->params[reply->param];
        int64_t bytes = tk_case_elements(c, reply->param) *
                        (int64_t)tk_dtype_size(tk_case_param_dtype(c, reply->param));
        bool inside = reply->offset >= 0 && reply->offset < bytes;
        if (inside && !*late && !param->output)
            snprintf(where, sizeof where, ": it wrote to its input %s, at byte %lld", param->name,
                     (long long)reply->offset);
        else
            snprintf(where, sizeof where, ": it %s %s %s, at byte %lld of its %lld",
                     !strcmp(text, "wrote") && !inside ? "wrote" : "reached", inside ? "into" : "outside",
                     param->name, (long long)reply->offset, (long long)bytes);
    } else if (reply->address) {
        snprintf(where, sizeof where, " at address 0x%llx", (unsigned long long)reply->address);
    }
    int number = reply->detail > 0 && reply->detail < NSIG ? reply->detail : 0;
    return tki_fail(ctx, TK_KERNEL_FAULT, "the kernel was ended by signal %d (%s)%s%s", number, strsignal(number),
                    late, where);
}

/* A frame that is what it should be. */
static tk_status explain(tk_ctx *ctx, const tki_wire_reply *reply)
{
    char text[1024];
    tki_reply_text(reply, text, sizeof text);
    switch (reply->status) {
    case TKI_WIRE_DONE: return TK_OK;
    case TKI_WIRE_REFUSED:
        return tki_fail(ctx, TK_UNSUPPORTED, "the kernel does not take this case: it returned %d", reply->detail);
    case TKI_WIRE_NOT_LOADED:
        return reply->detail ? tki_fail(ctx, TK_UNAVAILABLE, "the worker has no device: %s", text)
                             : tki_fail(ctx, TK_BAD_FILE, "the kernel's library %s", text);
    case TKI_WIRE_NO_MEMORY: /* the worker's, of which the kernel may have taken all there is; this process has its own */
        return tki_fail(ctx, TK_UNSUPPORTED, "the worker has not enough memory for this case: %s", text);
    case TKI_WIRE_DEVICE_FAULT: return tki_fail(ctx, TK_KERNEL_FAULT, "the kernel failed on its device: %s", text);
    default:
        return tki_fail(ctx, TK_KERNEL_FAULT, "the kernel forged or garbled a reply: a status that there is not");
    }
}

tk_status tki_reply_judge(tk_ctx *ctx, const void *frame, size_t bytes, tki_wire_kind kind, uint64_t nonce,
                          const tk_case *c, const tki_wire_reply **reply)
{
    *reply = frame;
    if (tki_reply_is_signal(frame, bytes))
        return tki_reply_explain_signal(ctx, frame, c);
    const char *wrong = tki_wire_check_reply(frame, bytes, kind, nonce, 0);
    if (wrong)
        return tki_fail(ctx, TK_KERNEL_FAULT, "the kernel forged or garbled a reply: %s", wrong);
    tk_status status = explain(ctx, *reply);
    /* Loading refuses nothing but itself, and a call has been loaded. */
    if ((status == TK_UNSUPPORTED && !c) || ((status == TK_BAD_FILE || status == TK_UNAVAILABLE) && c))
        return tki_fail(ctx, TK_KERNEL_FAULT, "the kernel forged or garbled a reply: a status out of place");
    return status;
}

void tki_reply_text(const tki_wire_reply *reply, char *text, size_t size)
{
    const char *said = (const char *)(reply + 1);
    const size_t bytes = reply->text_bytes < TKI_WIRE_TEXT ? reply->text_bytes : TKI_WIRE_TEXT;
    tki_escape_lines(said, strnlen(said, bytes), text, size);
}
