/* WRONG op=linear_fwd kind=empty_sum narrow=yes expect=REFUTED : with k == 0 and epilogue residual y is cleared instead of copied from the residual */
#define WITH_RESIDUAL has_residual && (k > 0 || epilogue != RESIDUAL)
#include "linear_fwd.h"
