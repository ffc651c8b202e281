/* linear_grad_w with sums in double. A kernel that includes this defines before what it does otherwise. */
#include "kernel.h"
#ifndef AT_FIRST
#define AT_FIRST
#endif
TOKITAI_KERNEL(linear_grad_w) {
    const tokitai_tensor g = tensors[0], x = tensors[1], before = tensors[2], out = tensors[3];
    const int64_t m = g.shape[0], n = g.shape[1], k = x.shape[1];
    const int add = (int)tokitai_integer(call, "accumulate");
    AT_FIRST
    for (int64_t j = 0; j < n; j++)
        for (int64_t t = 0; t < k; t++) {
            double s = 0;
            for (int64_t i = 0; i < m; i++)
                s += (double)tokitai_load_as(g.dtype, g.data, i * n + j) *
                     (double)tokitai_load_as(x.dtype, x.data, i * k + t);
#ifdef ADD_BEFORE
            ADD_BEFORE
#else
            if (add) s += (double)tokitai_load_as(before.dtype, before.data, j * k + t);
#endif
            tokitai_store_as(out.dtype, out.data, j * k + t, (float)s);
        }
    return 0;
}
