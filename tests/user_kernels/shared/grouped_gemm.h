/* grouped_gemm with sums in double, the groups in step with the rows. A kernel that includes this defines before what it does otherwise. */
#include "kernel.h"
#ifndef AT_FIRST
#define AT_FIRST
#endif
TOKITAI_KERNEL(grouped_gemm) {
    const tokitai_tensor a = tensors[0], b = tensors[1], ends = tensors[2], c = tensors[3];
    const int64_t m = a.shape[0], k = a.shape[1], n = b.shape[2], groups = b.shape[0];
    AT_FIRST
    int64_t group = 0;
    for (int64_t i = 0; i < m; i++) {
#ifdef NEXT_GROUP
        NEXT_GROUP
#else
        while (group < groups && tokitai_load_index(*call, ends.data, group) <= i) group++;
#endif
        for (int64_t j = 0; j < n; j++) {
            double s = 0;
            for (int64_t t = 0; group < groups && t < k; t++)
                s += (double)tokitai_load_as(a.dtype, a.data, i * k + t) *
                     (double)tokitai_load_as(b.dtype, b.data, (group * k + t) * n + j);
            tokitai_store_as(c.dtype, c.data, i * n + j, (float)s);
        }
    }
    return 0;
}
