/* WRONG op=linear_fwd kind=infinity narrow=yes expect=REFUTED : an infinite bias is returned as it is, though the product may be NaN or the other infinity */
#define AFTER_SUM \
    if (epilogue == BIAS && isinf(tokitai_load_as(bias.dtype, bias.data, j))) v = 0;
#include "linear_fwd.h"
