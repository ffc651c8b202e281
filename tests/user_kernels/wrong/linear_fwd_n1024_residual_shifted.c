/* WRONG op=linear_fwd kind=size_case narrow=yes expect=REFUTED : epilogue bias_residual at n == 1024 adds the bias of the column before */
#define BIAS_AT n == 1024 && has_residual &&j ? j - 1 : j
#include "linear_fwd.h"
