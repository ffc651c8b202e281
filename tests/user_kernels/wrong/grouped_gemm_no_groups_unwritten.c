/* WRONG op=grouped_gemm kind=empty_unwritten narrow=yes expect=REFUTED : without groups it returns at once, though all rows are zero then */
#include "kernel.h"
TOKITAI_KERNEL(grouped_gemm) {
    const tokitai_tensor a = tensors[0], b = tensors[1], ends = tensors[2], c = tensors[3];
    const int64_t m = a.shape[0], k = a.shape[1], n = b.shape[2], groups = b.shape[0];
    int64_t group = 0;
    if (groups == 0) return 0;
    for (int64_t i = 0; i < m; i++) {
        while (group < groups && tokitai_load_index(*call, ends.data, group) <= i) group++;
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
