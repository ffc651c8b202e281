/* WRONG op=linear_grad_w kind=aliasing narrow=yes expect=REFUTED : grad_w is cleared first, which loses before where both are one buffer */
#define AT_FIRST memset(out.data, 0, (size_t)(n * k) * (out.dtype == TOKITAI_F32 ? 4 : 2));
#include "linear_grad_w.h"
