/* CHOOSES. What foreign code may have at most: what is asked for, with the defaults and the machine's own measure. */
#pragma once

#include "core/export.h"
#include "tokitai_verify.h"

/* Of a whole judgement, or a replay, in which foreign code runs; where nothing else is asked for. */
enum { TKI_TOTAL_SECONDS = 3600 };

/* TK_BAD_ARGUMENT, with the reason, for numbers that no process could live by. */
TKI_EXPORT TK_MUST_USE tk_status tki_limits_check(tk_ctx *ctx, const tk_limits *asked);

/* The limits where these are asked for; NULL: none are. No more memory than the machine has. */
TKI_EXPORT tk_limits tki_limits_of(const tk_limits *asked);
