/* WRONG op=linear_fwd kind=special_values narrow=yes expect=REFUTED : gelu of the stored pre where that is infinite: f16, sums below -65520 */
#define THROUGH_GELU                                  \
    if (has_gelu) {                                   \
        tokitai_store_as(rt, pre, at, s);             \
        const float p = tokitai_load_as(rt, pre, at); \
        s = gelu_of_abs(isinf(p) ? p : s);            \
    }
#include "linear_fwd_floats.h"
