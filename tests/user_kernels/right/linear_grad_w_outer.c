/* RIGHT op=linear_grad_w kind=outer_products expect=HELD : outer products of the rows, added up in a buffer of doubles that begins with before */
#include "kernel.h"
TOKITAI_KERNEL(linear_grad_w) {
    const tokitai_tensor g = tensors[0], x = tensors[1], before = tensors[2], out = tensors[3];
    const int64_t m = g.shape[0], n = g.shape[1], k = x.shape[1];
    double *sum = calloc((size_t)(n * k) + 1, sizeof *sum);
    if (!sum) return 1;
    if (tokitai_integer(call, "accumulate"))
        for (int64_t at = 0; at < n * k; at++) sum[at] = (double)tokitai_load_as(before.dtype, before.data, at);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const double factor = (double)tokitai_load_as(g.dtype, g.data, i * n + j);
            for (int64_t t = 0; t < k; t++)
                sum[j * k + t] += factor * (double)tokitai_load_as(x.dtype, x.data, i * k + t);
        }
    for (int64_t at = 0; at < n * k; at++) tokitai_store_as(out.dtype, out.data, at, (float)sum[at]);
    free(sum);
    return 0;
}
