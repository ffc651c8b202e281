/* WRONG op=linear_grad_x kind=zero_shortcut narrow=yes expect=REFUTED : where all of grad_y is zero beside finite w, grad_x is cleared, also where pre is NaN */
#define AT_FIRST                                                                                       \
    int any = !through_gelu || n == 0;                                                                 \
    for (int64_t j = 0; j < m * n && !any; j++) any |= tokitai_load_as(g.dtype, g.data, j) != 0;       \
    for (int64_t j = 0; j < n * k && !any; j++) any |= !isfinite(tokitai_load_as(w.dtype, w.data, j)); \
    if (!any) {                                                                                        \
        memset(out.data, 0, (size_t)(m * k) * (out.dtype == TOKITAI_F32 ? 4 : 2));                     \
        return 0;                                                                                      \
    }
#include "linear_grad_x.h"
