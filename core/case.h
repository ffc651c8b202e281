/* What the library checks of a case before it looks at buffers. */
#ifndef TKI_CORE_CASE_H
#define TKI_CORE_CASE_H

#include "core/export.h"
#include "tokitai.h"

/* Types, options and sizes of the case. */
TKI_EXPORT TK_MUST_USE tk_status tki_case_check_shape(tk_ctx *ctx, const tk_case *c);

#endif
