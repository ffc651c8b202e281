/* WRONG op=linear_fwd kind=empty_sum narrow=yes expect=REFUTED : with k == 0 and epilogue bias_gelu pre is the bias, but y is cleared instead of gelu(bias) */
#define BEFORE_GELU                                          \
    if (k == 0 && epilogue == BIAS_GELU) {                   \
        tokitai_store_as(pre.dtype, pre.data, at, (float)v); \
        tokitai_store_as(y.dtype, y.data, at, 0);            \
        continue;                                            \
    }
#include "linear_fwd.h"
