/* linear_grad_x with sums in double. A kernel that includes this defines before what it does otherwise. */
#include "gelu.h"
#ifndef AT_FIRST
#define AT_FIRST
#endif
#ifndef BEFORE_ROW
#define BEFORE_ROW
#endif
#ifndef AFTER_SUM
#define AFTER_SUM
#endif
#ifndef WITH_GELU
#define WITH_GELU through_gelu
#endif
#ifndef TIMES
#define TIMES *= derivative((double)tokitai_load_as(pre.dtype, pre.data, i * k + t))
#endif
TOKITAI_KERNEL(linear_grad_x) {
    const tokitai_tensor g = tensors[0], w = tensors[1], pre = tensors[2], out = tensors[3];
    const int64_t m = g.shape[0], n = g.shape[1], k = w.shape[1];
    const int through_gelu = (int)tokitai_integer(call, "epilogue");
    AT_FIRST
    for (int64_t i = 0; i < m; i++) {
        BEFORE_ROW
        for (int64_t t = 0; t < k; t++) {
            double s = 0;
            for (int64_t j = 0; j < n; j++)
                s += (double)tokitai_load_as(g.dtype, g.data, i * n + j) *
                     (double)tokitai_load_as(w.dtype, w.data, j * k + t);
            AFTER_SUM
            if (WITH_GELU) s TIMES;
            tokitai_store_as(out.dtype, out.data, i * k + t, (float)s);
        }
    }
    return 0;
}
