/* WRONG op=linear_fwd kind=index_overflow narrow=yes expect=REFUTED : the row of the residual is kept in 12 bits */
#define ADD_RESIDUAL
#define THROUGH_GELU                                                     \
    if (has_res) s += tokitai_load_as(rt, residual, (i & 4095) * n + j); \
    if (has_gelu) {                                                      \
        tokitai_store_as(rt, pre, at, s);                                \
        s = gelu_of_abs(s);                                              \
    }
#include "linear_fwd_floats.h"
