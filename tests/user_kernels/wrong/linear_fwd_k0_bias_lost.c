/* WRONG op=linear_fwd kind=empty_sum narrow=yes expect=REFUTED : with k == 0 and epilogue bias y is cleared, though a sum over nothing still has its bias */
#define AT_FIRST                                                               \
    if (k == 0 && epilogue == BIAS) { /* nothing to multiply */                \
        memset(y.data, 0, (size_t)(m * n) * (y.dtype == TOKITAI_F32 ? 4 : 2)); \
        return 0;                                                              \
    }
#include "linear_fwd.h"
