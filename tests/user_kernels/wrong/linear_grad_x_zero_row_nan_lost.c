/* WRONG op=linear_grad_x kind=zero_shortcut narrow=yes expect=REFUTED : rows of grad_y that are all zero give zeros without a look at pre, which may be NaN */
#define BEFORE_ROW                                                                                     \
    int any = !through_gelu;                                                                           \
    for (int64_t j = 0; j < n; j++) any |= tokitai_load_as(g.dtype, g.data, i * n + j) != 0;           \
    for (int64_t j = 0; j < n * k && !any; j++) any |= !isfinite(tokitai_load_as(w.dtype, w.data, j)); \
    if (!any) {                                                                                        \
        memset((char *)out.data + i * k * (out.dtype == TOKITAI_F32 ? 4 : 2), 0,                       \
               (size_t)k * (out.dtype == TOKITAI_F32 ? 4 : 2));                                        \
        continue;                                                                                      \
    }
#include "linear_grad_x.h"
