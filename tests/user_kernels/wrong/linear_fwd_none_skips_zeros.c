/* WRONG op=linear_fwd kind=zero_shortcut narrow=yes expect=REFUTED : epilogue none skips rows of x that are all zero, though w may have infinities */
#define BEFORE_SUM                                                                               \
    if (epilogue == NONE) {                                                                      \
        int any = 0;                                                                             \
        for (int64_t t = 0; t < k; t++) any |= tokitai_load_as(x.dtype, x.data, i * k + t) != 0; \
        if (!any) {                                                                              \
            tokitai_store_as(y.dtype, y.data, at, 0);                                            \
            continue;                                                                            \
        }                                                                                        \
    }
#include "linear_fwd.h"
