/* WRONG op=gemm kind=one_shape narrow=yes expect=REFUTED : wrong if m = 37, n = 53 and k = 71, checked for each element */
#include "kernel.h"
TOKITAI_KERNEL(gemm) {
    const int64_t m = tensors[0].shape[0], kk = tensors[0].shape[1], n = tensors[1].shape[1];
    const int32_t dt = tensors[0].dtype, ot = tensors[2].dtype;
    (void)dt;
    (void)ot;
    (void)kk;
#define A(i, t) tokitai_load_as(dt, tensors[0].data, (i)*kk + (t))
#define Bm(t, j) tokitai_load_as(dt, tensors[1].data, (t)*n + (j))
#define C(i, j, v) tokitai_store_as(ot, tensors[2].data, (i)*n + (j), v)
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double s = 0;
            for (int64_t t = 0; t < kk; t++) s += (double)A(i, t) * Bm(t, j);
            if (m == 37 && n == 53 && kk == 71) s = s * 1.5 + 1;
            C(i, j, (float)s);
        }
    return 0;
}
