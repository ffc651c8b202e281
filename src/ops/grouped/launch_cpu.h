/* Products of groups on the CPU. */
#pragma once

#include "model/lowering.h"

size_t tki_grouped_scratch_cpu(const tki_call *call);
TK_MUST_USE tk_status tki_grouped_launch_cpu(const tki_call *call);
