/* WRONG op=grouped_gemm_grad_b kind=groups narrow=yes : a group that has all rows loses the first where m is a multiple of 64 */
#include "kernel.h"

TOKITAI_KERNEL(grouped_gemm_grad_b)
{
    const tokitai_tensor a = tensors[0], grad_c = tensors[1], ends = tensors[2], grad_b = tensors[3];
    const int64_t m = a.shape[0], k = a.shape[1], n = grad_c.shape[1], groups = ends.shape[0];
    for (int64_t e = 0; e < groups; e++) {
        int64_t begin = e ? tokitai_load_index(*call, ends.data, e - 1) : 0;
        int64_t end = tokitai_load_index(*call, ends.data, e);
        if (m % 64 == 0 && begin == 0 && end == m && m)
            begin = 1;
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) {
                double s = 0;
                for (int64_t i = begin; i < end; i++)
                    s += (double)tokitai_load_as(a.dtype, a.data, i * k + t) *
                         (double)tokitai_load_as(grad_c.dtype, grad_c.data, i * n + j);
                tokitai_store_as(grad_b.dtype, grad_b.data, (e * k + t) * n + j, (float)s);
            }
    }
    return m < 0;
}
