/* UNTRUSTED. gelu on a GPU: the launch functions of its lowerings. */
#pragma once

#include "model/lowering.h"

TK_MUST_USE tk_status tki_gelu_fwd_launch_gpu(const tki_call *call);
TK_MUST_USE tk_status tki_gelu_bwd_launch_gpu(const tki_call *call);
