/* UNTRUSTED. Softmax on a GPU, as lowering.c calls it. */
#pragma once

#include "model/lowering.h"
#include "ops/softmax/params.h"

/* p.lanes is set here. */
TK_MUST_USE tk_status tki_softmax_fwd_launch_gpu(const tki_call *call, tki_softmax_params p);
TK_MUST_USE tk_status tki_softmax_bwd_launch_gpu(const tki_call *call, tki_softmax_params p);

TK_MUST_USE tk_status tki_softmax_fwd_launch_hopper(const tki_call *call, tki_softmax_params p);
TK_MUST_USE tk_status tki_softmax_bwd_launch_hopper(const tki_call *call, tki_softmax_params p);
