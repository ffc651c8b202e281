/* WRONG op=linear_grad_x kind=size_case narrow=yes expect=REFUTED : at k == 2048 the derivative of the column before is taken */
#define TIMES *= derivative((double)tokitai_load_as(pre.dtype, pre.data, k == 2048 && t ? i * k + t - 1 : i * k + t))
#include "linear_grad_x.h"
