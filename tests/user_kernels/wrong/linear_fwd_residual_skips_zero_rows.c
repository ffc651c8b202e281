/* WRONG op=linear_fwd kind=zero_shortcut narrow=yes expect=REFUTED : epilogue residual copies the residual where a row of x is all zero, though w may have infinities */
#define BEFORE_SUM                                                                                     \
    if (epilogue == RESIDUAL) {                                                                        \
        int any = 0;                                                                                   \
        for (int64_t t = 0; t < k; t++) any |= tokitai_load_as(x.dtype, x.data, i * k + t) != 0;       \
        if (!any) {                                                                                    \
            tokitai_store_as(y.dtype, y.data, at, tokitai_load_as(residual.dtype, residual.data, at)); \
            continue;                                                                                  \
        }                                                                                              \
    }
#include "linear_fwd.h"
