/* Cross-entropy on a GPU, as lowering.c calls it. */
#ifndef TKI_OPS_XENT_LAUNCH_GPU_H
#define TKI_OPS_XENT_LAUNCH_GPU_H

#include "core/lowering.h"
#include "ops/xent/params.h"

/* p.lanes and p.fault_word are set here. */
TK_MUST_USE tk_status tki_xent_launch_gpu(const tki_call *call, tki_xent_params p);

const char *tki_xent_accept_hopper(const tk_case *c, const tki_gpu_info *device);
TK_MUST_USE tk_status tki_xent_launch_hopper(const tki_call *call, tki_xent_params p);

#endif
