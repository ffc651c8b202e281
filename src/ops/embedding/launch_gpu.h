/* UNTRUSTED. embedding on a GPU: the launch functions of its lowerings. */
#pragma once

#include "model/lowering.h"

TK_MUST_USE tk_status tki_embedding_fwd_launch_gpu(const tki_call *call);
TK_MUST_USE tk_status tki_embedding_bwd_launch_gpu(const tki_call *call);
size_t tki_embedding_bwd_scratch_bytes_gpu(const tki_call *call);
