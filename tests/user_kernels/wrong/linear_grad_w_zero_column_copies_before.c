/* WRONG op=linear_grad_w kind=zero_shortcut narrow=yes expect=REFUTED : columns of grad_y that are all zero copy before, though x may have infinities */
#define ADD_BEFORE                                                                           \
    int any = 0;                                                                             \
    for (int64_t i = 0; i < m; i++) any |= tokitai_load_as(g.dtype, g.data, i * n + j) != 0; \
    if (add && !any) s = 0;                                                                  \
    if (add) s += (double)tokitai_load_as(before.dtype, before.data, j * k + t);
#include "linear_grad_w.h"
