/* CHOOSES. What a frame from a worker comes to. The frame is untrusted: it may be forged by the very kernel that is judged. */
#pragma once

#include "isolate/wire.h"
#include "isolate/worker_start.h"
#include "tokitai.h"

/* TK_OK for a frame of that kind and nonce which says that all went well; *reply then points to it. Else what went wrong, in words. `c`
 * is the case of the call, NULL while the kernel is loaded. */
TK_MUST_USE tk_status tki_reply_judge(tk_ctx *ctx, const void *frame, size_t bytes, tki_wire_kind kind,
                                      uint64_t nonce, const tk_case *c, const tki_wire_reply **reply);

/* The text of a reply to a call, or to loading: false if it is not that. */
bool tki_reply_state(const tki_wire_reply *reply, tki_process_state *state);

/* Does it come from the handler of a deadly signal? */
bool tki_reply_is_signal(const void *frame, size_t bytes);
/* Then what it says; always a failure. */
TK_MUST_USE tk_status tki_reply_explain_signal(tk_ctx *ctx, const void *frame, const tk_case *c);
