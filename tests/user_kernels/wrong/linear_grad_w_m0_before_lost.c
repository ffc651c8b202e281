/* WRONG op=linear_grad_w kind=empty_sum narrow=yes expect=REFUTED : with m == 0 and accumulate grad_w is cleared instead of copied from before */
#define AT_FIRST                                                                   \
    if (m == 0) {                                                                  \
        memset(out.data, 0, (size_t)(n * k) * (out.dtype == TOKITAI_F32 ? 4 : 2)); \
        return 0;                                                                  \
    }
#include "linear_grad_w.h"
