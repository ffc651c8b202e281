/* WRONG op=linear_fwd kind=out_of_bounds narrow=yes expect=REFUTED : pre[0] is written with epilogues that have no pre */
#define THROUGH_GELU                                 \
    tokitai_store_as(rt, pre, has_gelu ? at : 0, s); \
    if (has_gelu) s = gelu_of_abs(s);
#include "linear_fwd_floats.h"
