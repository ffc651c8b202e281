/* UNTRUSTED. Cross-entropy on a GPU, as lowering.c calls it. */
#pragma once

#include "model/lowering.h"
#include "ops/xent/params.h"

/* p.lanes, p.whole and p.fault_word are set here. */
TK_MUST_USE tk_status tki_xent_launch_gpu(const tki_call *call, tki_xent_params p);

TK_MUST_USE tk_status tki_xent_launch_hopper(const tki_call *call, tki_xent_params p);
