/* CHOOSES. Options that programs hand over begin with the size of their struct, by which it may grow: docs/stability.md. */
#pragma once

#include "core/export.h"
#include "tokitai.h"

/* Copies what is given of the struct of that name over the defaults that `taken`, of `size` bytes, holds; NULL: nothing. Members that a smaller
 * struct lacks keep their defaults. TK_BAD_ARGUMENT for one without a size, and for a larger one in which something is set that is
 * not known here. */
TKI_EXPORT TK_MUST_USE tk_status tki_options_take(tk_ctx *ctx, const char *name, const void *given, void *taken,
                                                  size_t size);
