/* WRONG op=linear_fwd kind=type narrow=yes : the residual is read as the type of x, which it is not where results are fp32 */
#define RESIDUAL_TYPE x.dtype
#include "linear_fwd.h"
