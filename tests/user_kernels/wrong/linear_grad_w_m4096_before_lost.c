/* WRONG op=linear_grad_w kind=size_case narrow=yes expect=REFUTED : at m >= 4096, which is summed in two passes, before is lost */
#define ADD_BEFORE \
    if (add) s += m >= 4096 ? 0 : (double)tokitai_load_as(before.dtype, before.data, j * k + t);
#include "linear_grad_w.h"
