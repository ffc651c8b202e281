/* WRONG op=linear_fwd kind=size_case narrow=yes expect=REFUTED : a single column (n == 1) with epilogue bias_gelu leaves the bias out */
#define WITH_BIAS has_bias && !(n == 1 && has_gelu)
#include "linear_fwd.h"
