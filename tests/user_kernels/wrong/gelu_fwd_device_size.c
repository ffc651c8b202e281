/* WRONG op=gelu_fwd kind=one_size narrow=yes expect=REFUTED : n = 7919 leaves a wrong last element; the check stands in a TOKITAI_DEVICE function */
#include "kernel.h"
TOKITAI_DEVICE void all(int64_t n, int32_t dt, const void *x, void *y) {
    for (int64_t i = 0; i < n; i++) {
        double v = tokitai_load_as(dt, x, i);
        double tz = 2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v);
        float r = (float)(v / (1 + exp(-tz)));
        if (n == 7919 && i == n - 1) r = 1;
        tokitai_store_as(dt, y, i, r);
    }
}
TOKITAI_KERNEL(gelu_fwd) {
    all(tensors[0].shape[0], tensors[0].dtype, tensors[0].data, tensors[1].data);
    return 0;
}
