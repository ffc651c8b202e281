/* WRONG op=linear_grad_x kind=type narrow=yes dtype=f16-f32 expect=REFUTED : pre is read as the type of grad_y, which it is not where results are fp32 */
#define TIMES *= derivative((double)tokitai_load_as(g.dtype, pre.data, i * k + t))
#include "linear_grad_x.h"
