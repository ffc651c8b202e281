/* WRONG op=linear_fwd kind=size_case narrow=yes expect=REFUTED : epilogue residual at n == 1024 leaves the residual out */
#define WITH_RESIDUAL has_residual && (n != 1024 || epilogue != RESIDUAL)
#include "linear_fwd.h"
