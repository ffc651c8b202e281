/* WRONG op=grouped_gemm kind=groups narrow=yes : a binary search ends at any of several ends that equal the row, and takes the group behind it, which may be empty */
#include "kernel.h"

TOKITAI_KERNEL(grouped_gemm)
{
    const tokitai_tensor a = tensors[0], b = tensors[1], ends = tensors[2], c = tensors[3];
    const int64_t m = a.shape[0], k = a.shape[1], n = b.shape[2], groups = b.shape[0];
    int64_t group = 0;
    for (int64_t i = 0; i < m; i++) {
        int64_t low = 0, high = groups;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            const int64_t end = tokitai_load_index(*call, ends.data, middle);
            if (end == i) {
                low = high = middle + 1;
                break;
            }
            if (end < i)
                low = middle + 1;
            else
                high = middle;
        }
        group = low;
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
