/* WRONG op=linear_grad_x kind=infinity narrow=yes expect=REFUTED : with gelu an infinite sum is returned as it is, whatever the sign of the derivative */
#define WITH_GELU through_gelu && !isinf(s)
#include "linear_grad_x.h"
