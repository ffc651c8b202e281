/* CHOOSES. The device half of a context, for those who launch. */
#pragma once

#include "tokitai.h"

/* Makes sure that ctx->device_scratch holds at least `bytes`, for a call that is made now. While the stream is being captured nothing can be
 * allocated; a block that a capture has used stays where it is until the device is closed. */
TK_MUST_USE tk_status tki_device_reserve(tk_ctx *ctx, size_t bytes);
