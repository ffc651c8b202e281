/* grouped_gemm_grad_b with sums in double. A kernel that includes this defines before what it does otherwise. */
#include "kernel.h"
#ifndef BEFORE_GROUP
#define BEFORE_GROUP
#endif
#ifndef AFTER_SUM
#define AFTER_SUM
#endif
TOKITAI_KERNEL(grouped_gemm_grad_b) {
    const tokitai_tensor a = tensors[0], grad_c = tensors[1], ends = tensors[2], grad_b = tensors[3];
    const int64_t m = a.shape[0], k = a.shape[1], n = grad_c.shape[1], groups = ends.shape[0];
    for (int64_t e = 0; e < groups; e++) {
        int64_t begin = e ? tokitai_load_index(*call, ends.data, e - 1) : 0;
        int64_t end = tokitai_load_index(*call, ends.data, e);
        BEFORE_GROUP
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) {
                double s = 0;
                for (int64_t i = begin; i < end; i++)
                    s += (double)tokitai_load_as(a.dtype, a.data, i * k + t) *
                         (double)tokitai_load_as(grad_c.dtype, grad_c.data, i * n + j);
                AFTER_SUM
                tokitai_store_as(grad_b.dtype, grad_b.data, (e * k + t) * n + j, (float)s);
            }
    }
    return m < 0;
}
