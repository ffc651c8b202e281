/* Products on a GPU, as lowering.c calls them. */
#pragma once

#include "model/lowering.h"
#include "ops/gemm/params.h"

TK_MUST_USE tk_status tki_gemm_launch_gpu(const tki_call *call, const tki_gemm_params *p);
TK_MUST_USE tk_status tki_gemm_launch_tensor(const tki_call *call, const tki_gemm_params *p); /* on matrix units */
