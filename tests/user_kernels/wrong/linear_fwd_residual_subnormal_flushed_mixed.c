/* WRONG op=linear_fwd kind=flush narrow=yes dtype=f16-f32 expect=REFUTED : the fp32 residual of f16 factors is taken for 0 where it is subnormal */
#define ADD_RESIDUAL
#define THROUGH_GELU                                       \
    if (has_res) {                                         \
        const float r = tokitai_load_as(rt, residual, at); \
        s += fabsf(r) < FLT_MIN ? 0 * r : r;               \
    }                                                      \
    if (has_gelu) {                                        \
        tokitai_store_as(rt, pre, at, s);                  \
        s = gelu_of_abs(s);                                \
    }
#include "linear_fwd_floats.h"
