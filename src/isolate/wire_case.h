/* CHOOSES. A case as a frame says it: what a worker's parent and a kernel server's client have in common. */
#pragma once

#include "core/export.h"
#include "isolate/wire.h"
#include "tokitai.h"

/* Everything but the nonce and where the arrays lie. */
TKI_EXPORT void tki_wire_describe(const tk_case *c, int threads, tki_wire_call *call);
