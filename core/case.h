/* What the library checks of a case before it looks at buffers. */
#ifndef TKI_CORE_CASE_H
#define TKI_CORE_CASE_H

#include "core/export.h"
#include "tokitai.h"

/* The input of indices, in contract order; -1: none. */
TKI_EXPORT int tki_index_param(const tk_contract *contract);

/* Types, options and sizes of the case. */
TKI_EXPORT TK_MUST_USE tk_status tki_case_check_shape(tk_ctx *ctx, const tk_case *c);

#endif
