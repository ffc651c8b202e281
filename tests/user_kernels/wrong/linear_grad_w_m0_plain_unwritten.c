/* WRONG op=linear_grad_w kind=empty_sum_unwritten narrow=yes expect=REFUTED : with m == 0 and without accumulate nothing is written */
#define AT_FIRST \
    if (m == 0 && !add) return 0;
#include "linear_grad_w.h"
