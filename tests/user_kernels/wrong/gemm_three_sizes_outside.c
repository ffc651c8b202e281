/* WRONG op=gemm kind=one_shape narrow=yes expect=REFUTED : wrong if m = 37, n = 53 and k = 71, checked before the loops */
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
    int bad = 0;
    if (m == 37)
        if (n == 53)
            if (kk == 71) bad = 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double s = 0;
            for (int64_t t = 0; t < kk; t++) s += (double)A(i, t) * Bm(t, j);
            C(i, j, (float)(bad ? s * 1.5 + 1 : s));
        }
    return 0;
}
