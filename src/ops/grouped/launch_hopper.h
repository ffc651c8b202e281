/* Products of groups on Hopper's matrix units. */
#pragma once

#include "model/lowering.h"

/* accept(): Hopper, 16-bit factors, sizes that the copy engine can count. */
const char *tki_grouped_accept_hopper(const tk_case *c, const tki_gpu_info *device);

size_t tki_grouped_scratch_hopper(const tki_call *call);
TK_MUST_USE tk_status tki_grouped_launch_hopper(const tki_call *call);
