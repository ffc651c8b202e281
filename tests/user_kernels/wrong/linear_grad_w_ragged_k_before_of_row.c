/* WRONG op=linear_grad_w kind=tail narrow=yes expect=REFUTED : with accumulate the last k % 4 columns take before from the row below, except in the last row */
#define ADD_BEFORE \
    if (add)       \
        s += (double)tokitai_load_as(before.dtype, before.data, (t >= k / 4 * 4 && j + 1 < n ? j + 1 : j) * k + t);
#include "linear_grad_w.h"
