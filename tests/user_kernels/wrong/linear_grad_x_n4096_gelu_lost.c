/* WRONG op=linear_grad_x kind=size_case narrow=yes expect=REFUTED : at n >= 4096 the derivative is left out */
#define WITH_GELU through_gelu &&n < 4096
#include "linear_grad_x.h"
