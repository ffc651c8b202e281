/* UNTRUSTED. padic_gemm on a GPU: the launch function of its lowering, and the memory that it needs. */
#pragma once

#include "model/lowering.h"
#include "ops/padic/params.h"

TK_MUST_USE tk_status tki_padic_launch_gpu(const tki_call *call, const tki_padic_params *p);

size_t tki_padic_scratch_gpu(const tki_padic_params *p);
