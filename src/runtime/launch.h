/* UNTRUSTED. One launch of a lowering on buffers that lie where it runs: scratch memory, then its own function. */
#pragma once

#include "model/lowering.h"

/* `threads`: of a kernel on the CPU, at least 1. `prepare_only`: load kernels and reserve scratch memory; launch nothing and read no buffer. */
TK_MUST_USE tk_status tki_launch(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, void *const buffers[],
                                 int threads, bool prepare_only);

/* What such a launch needs. */
size_t tki_launch_scratch(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, int threads);
