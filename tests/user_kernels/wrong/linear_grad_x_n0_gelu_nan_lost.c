/* WRONG op=linear_grad_x kind=empty_sum narrow=yes expect=REFUTED : with n == 0 grad_x is cleared, also where pre is NaN and zero times its derivative is */
#define WITH_GELU through_gelu &&n > 0
#include "linear_grad_x.h"
