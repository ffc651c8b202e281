/* WRONG op=grouped_gemm_grad_a kind=groups narrow=yes expect=REFUTED : with one group its end is not looked at */
#include "kernel.h"
TOKITAI_KERNEL(grouped_gemm_grad_a) {
    const tokitai_tensor grad_c = tensors[0], b = tensors[1], ends = tensors[2], grad_a = tensors[3];
    const int64_t m = grad_c.shape[0], n = grad_c.shape[1], k = b.shape[1], groups = b.shape[0];
    int64_t group = 0;
    for (int64_t i = 0; i < m; i++) {
        while (group < groups && tokitai_load_index(*call, ends.data, group) <= i) group++;
        if (groups == 1) group = 0;
        for (int64_t t = 0; t < k; t++) {
            double s = 0;
            for (int64_t j = 0; group < groups && j < n; j++)
                s += (double)tokitai_load_as(grad_c.dtype, grad_c.data, i * n + j) *
                     (double)tokitai_load_as(b.dtype, b.data, (group * k + t) * n + j);
            tokitai_store_as(grad_a.dtype, grad_a.data, i * k + t, (float)s);
        }
    }
    return 0;
}
