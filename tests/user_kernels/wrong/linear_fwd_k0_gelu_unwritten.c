/* WRONG op=linear_fwd kind=empty_sum_unwritten narrow=yes expect=REFUTED : with k == 0 and epilogue gelu y is cleared, and pre is not written */
#define AT_FIRST                                                               \
    if (k == 0 && epilogue == GELU) {                                          \
        memset(y.data, 0, (size_t)(m * n) * (y.dtype == TOKITAI_F32 ? 4 : 2)); \
        return 0;                                                              \
    }
#include "linear_fwd.h"
