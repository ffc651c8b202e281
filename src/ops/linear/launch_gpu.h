/* A linear layer on a GPU, as lowering.c calls it. */
#pragma once

#include "model/lowering.h"
#include "ops/linear/params.h"

TK_MUST_USE tk_status tki_linear_launch_gpu(const tki_call *call, const tki_linear_params *p);
