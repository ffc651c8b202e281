/* CHOOSES. Host buffers run on a GPU: copied into guarded device memory, launched, copied back. For the judge, which draws inputs and reads
 * outputs on the host. */
#pragma once

#include "core/fault.h"
#include "model/lowering.h"

typedef struct tki_staging tki_staging;

TK_MUST_USE tk_status tki_staging_open(tk_ctx *ctx, tki_staging **staging);
void tki_staging_close(tki_staging *staging); /* NULL is fine */

/* Runs the lowering once on copies. Afterwards every buffer, inputs too, is as the kernel left its copy. `seconds` (may be NULL) is
 * the time between two events around the launch. */
TK_MUST_USE tk_status tki_staging_call(tki_staging *staging, const tki_lowering *lowering, const tk_case *c,
                                       void *const buffers[], double *seconds, tki_overrun *overrun);
