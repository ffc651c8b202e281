/* UNTRUSTED. Products of groups, as lowering.c calls them. */
#pragma once

#include "model/lowering.h"
#include "ops/product/params.h"

size_t tki_grouped_scratch_cpu(const tki_call *call);
TK_MUST_USE tk_status tki_grouped_launch_cpu(const tki_call *call);
size_t tki_grouped_scratch_gpu(const tki_call *call);
TK_MUST_USE tk_status tki_grouped_launch_gpu(const tki_call *call);
/* accept(): Hopper, 16-bit factors, sizes that the copy engine can count. */
const char *tki_grouped_accept_hopper(const tk_case *c, const tki_gpu_info *device);
size_t tki_grouped_scratch_hopper(const tki_call *call);
TK_MUST_USE tk_status tki_grouped_launch_hopper(const tki_call *call);

/* A call as one product, and its groups, of which the table lies at the beginning of the call's scratch memory. */
tki_grouped_params tki_grouped_params_of(const tki_call *call);
size_t tki_grouped_table_bytes(const tk_case *c);

/* Fills the table, by a kernel of `source`, for tiles of so many rows. */
TK_MUST_USE tk_status tki_grouped_find(const tki_call *call, const char *source, tki_grouped_groups of);
/* Clears the output, unless an end is bad. */
TK_MUST_USE tk_status tki_grouped_clear_out(const tki_call *call, const char *source, const tki_grouped_params *p);
