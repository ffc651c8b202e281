/* WRONG op=linear_fwd kind=empty_sum_unwritten narrow=yes expect=REFUTED : with k == 0 and epilogue bias_residual it returns at once and leaves y as it was */
#define AT_FIRST \
    if (k == 0 && has_bias && has_residual) return 0;
#include "linear_fwd.h"
