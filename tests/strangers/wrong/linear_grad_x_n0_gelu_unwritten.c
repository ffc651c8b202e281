/* WRONG op=linear_grad_x kind=empty_sum_unwritten narrow=yes : with n == 0 and epilogue gelu it returns at once, though grad_x is all zeros then */
#include "gelu.h"

TOKITAI_KERNEL(linear_grad_x)
{
    const tokitai_tensor g = tensors[0], w = tensors[1], pre = tensors[2], out = tensors[3];
    const int64_t m = g.shape[0], n = g.shape[1], k = w.shape[1];
    const int through_gelu = (int)tokitai_integer(call, "epilogue");
    if (n == 0 && through_gelu)
        return 0;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t t = 0; t < k; t++) {
            double s = 0;
            for (int64_t j = 0; j < n; j++)
                s += (double)tokitai_load_as(g.dtype, g.data, i * n + j) *
                     (double)tokitai_load_as(w.dtype, w.data, j * k + t);
            if (through_gelu)
                s *= derivative((double)tokitai_load_as(pre.dtype, pre.data, i * k + t));
            tokitai_store_as(out.dtype, out.data, i * k + t, (float)s);
        }
    }
    return 0;
}
