/* WRONG op=linear_fwd kind=rounded_intermediate narrow=yes expect=REFUTED : bias_gelu at k >= 4096 goes through two kernels: gelu sees pre as it was stored, in 16 bits */
#define BEFORE_GELU                                           \
    if (k >= 4096 && epilogue == BIAS_GELU) {                 \
        tokitai_store_as(pre.dtype, pre.data, at, (float)v);  \
        v = (double)tokitai_load_as(pre.dtype, pre.data, at); \
    }
#include "linear_fwd.h"
