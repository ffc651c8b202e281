/* WRONG op=linear_fwd kind=flush narrow=yes dtype=f32 expect=REFUTED : the bias is taken for 0 where it is subnormal */
#define ADD_BIAS
#define ADD_RESIDUAL
#define THROUGH_GELU                                     \
    if (has_bias) {                                      \
        const float r = tokitai_load_as(dt, bias, j);    \
        s += fabsf(r) < FLT_MIN ? 0 * r : r;             \
    }                                                    \
    if (has_res) s += tokitai_load_as(rt, residual, at); \
    if (has_gelu) {                                      \
        tokitai_store_as(rt, pre, at, s);                \
        s = gelu_of_abs(s);                              \
    }
#include "linear_fwd_floats.h"
