/* WRONG op=linear_fwd kind=index_overflow narrow=yes expect=REFUTED : the column of the bias is kept in 16 bits */
#define ADD_BIAS
#define ADD_RESIDUAL
#define THROUGH_GELU                                           \
    if (has_bias) s += tokitai_load_as(dt, bias, (uint16_t)j); \
    if (has_res) s += tokitai_load_as(rt, residual, at);       \
    if (has_gelu) {                                            \
        tokitai_store_as(rt, pre, at, s);                      \
        s = gelu_of_abs(s);                                    \
    }
#include "linear_fwd_floats.h"
