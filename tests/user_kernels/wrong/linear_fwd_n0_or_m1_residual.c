/* WRONG op=linear_fwd kind=size_case narrow=yes expect=REFUTED : a single row (m == 1) with epilogue bias_residual leaves the bias out */
#define WITH_BIAS has_bias && !(m == 1 && has_residual)
#include "linear_fwd.h"
