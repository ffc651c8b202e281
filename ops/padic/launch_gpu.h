/* padic_gemm on a GPU: the launch function of its row. */
#ifndef TKI_OPS_PADIC_LAUNCH_GPU_H
#define TKI_OPS_PADIC_LAUNCH_GPU_H

#include "model/lowering.h"
#include "ops/padic/params.h"

TK_MUST_USE tk_status tki_padic_launch_gpu(const tki_call *call, const tki_padic_params *p);

/* What the kernel is told of the modulus; for tests, which run its arithmetic. */
tki_padic_gpu_params tki_padic_gpu_params_of(const tki_padic_params *p);

#endif
