/* A linear layer on a GPU, as lowering.c calls it. */
#ifndef TKI_OPS_LINEAR_LAUNCH_GPU_H
#define TKI_OPS_LINEAR_LAUNCH_GPU_H

#include "model/lowering.h"
#include "ops/linear/params.h"

TK_MUST_USE tk_status tki_linear_launch_gpu(const tki_call *call, const tki_linear_params *p);

#endif
