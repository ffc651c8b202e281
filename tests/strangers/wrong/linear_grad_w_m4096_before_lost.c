/* WRONG op=linear_grad_w kind=size_case narrow=yes : at m >= 4096, which is summed in two passes, before is lost */
#include "kernel.h"

TOKITAI_KERNEL(linear_grad_w)
{
    const tokitai_tensor g = tensors[0], x = tensors[1], before = tensors[2], out = tensors[3];
    const int64_t m = g.shape[0], n = g.shape[1], k = x.shape[1];
    const int add = (int)tokitai_integer(call, "accumulate");
    for (int64_t j = 0; j < n; j++)
        for (int64_t t = 0; t < k; t++) {
            double s = 0;
            for (int64_t i = 0; i < m; i++)
                s += (double)tokitai_load_as(g.dtype, g.data, i * n + j) *
                     (double)tokitai_load_as(x.dtype, x.data, i * k + t);
            if (add)
                s += m >= 4096 ? 0 : (double)tokitai_load_as(before.dtype, before.data, j * k + t);
            tokitai_store_as(out.dtype, out.data, j * k + t, (float)s);
        }
    return 0;
}
