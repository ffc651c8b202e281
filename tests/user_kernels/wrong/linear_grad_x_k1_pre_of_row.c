/* WRONG op=linear_grad_x kind=size_case narrow=yes expect=REFUTED : with gelu and m == 1 the derivative of the first element is taken for all */
#define TIMES *= derivative((double)tokitai_load_as(pre.dtype, pre.data, m == 1 ? 0 : i * k + t))
#include "linear_grad_x.h"
