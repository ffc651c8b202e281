/* WRONG op=linear_fwd kind=type narrow=yes dtype=f16-f32 expect=REFUTED : the residual is read as the type of x, which it is not where results are fp32 */
#define RESIDUAL_TYPE x.dtype
#include "linear_fwd.h"
