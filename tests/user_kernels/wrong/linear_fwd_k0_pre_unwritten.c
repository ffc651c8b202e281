/* WRONG op=linear_fwd kind=empty_sum_unwritten narrow=yes expect=REFUTED : with k == 0 and epilogue bias_gelu y is right, but pre is not written */
#define BEFORE_GELU                                                      \
    if (k == 0 && has_bias) {                                            \
        tokitai_store_as(y.dtype, y.data, at, (float)gelu_in_double(v)); \
        continue;                                                        \
    }
#include "linear_fwd.h"
