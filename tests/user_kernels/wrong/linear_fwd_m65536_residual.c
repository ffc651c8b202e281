/* WRONG op=linear_fwd kind=index_overflow narrow=yes expect=REFUTED : the residual of rows beyond 65535 is left out with epilogue residual */
#define WITH_RESIDUAL has_residual && (i < 65536 || epilogue != RESIDUAL)
#include "linear_fwd.h"
