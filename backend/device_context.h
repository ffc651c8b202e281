/* The device half of a context, for those who launch. */
#ifndef TKI_BACKEND_DEVICE_CONTEXT_H
#define TKI_BACKEND_DEVICE_CONTEXT_H

#include "tokitai.h"

/* Makes sure that ctx->device_scratch holds at least `bytes`. Not while the stream is being captured. */
TK_MUST_USE tk_status tki_device_reserve(tk_ctx *ctx, size_t bytes);

#endif
