/* WRONG op=linear_grad_w kind=type narrow=yes : before is rounded to the type of x, also where results are fp32 */
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
            uint32_t kept = 0;
            if (add)
                tokitai_store_as(x.dtype, &kept, 0, tokitai_load_as(before.dtype, before.data, j * k + t));
            if (add)
                s += (double)tokitai_load_as(x.dtype, &kept, 0);
            tokitai_store_as(out.dtype, out.data, j * k + t, (float)s);
        }
    return 0;
}
