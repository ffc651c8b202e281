/* RIGHT op=linear_grad_w kind=order expect=HELD : blocks of 32 rows, with what was there after the second */
#include "linear.h"
TOKITAI_KERNEL(linear_grad_w) {
    const int64_t m = tensors[0].shape[0], n = tensors[0].shape[1], k = tensors[1].shape[1];
    const int64_t acc = tokitai_integer(call, "accumulate");
    const int32_t dt = call->dtype, rt = call->result_dtype;
    const void *before = tensors[2].data;
    void *gw = tensors[3].data;
    (void)before;
    (void)acc;
    float *g = floats(dt, tensors[0].data, m * n), *x = floats(dt, tensors[1].data, m * k);
    for (int64_t j = 0; j < n; j++)
        for (int64_t t = 0; t < k; t++) {
            const int64_t at = j * k + t;
            float s = 0;
            for (int64_t i0 = 0; i0 < m; i0 += 32) {
                float q = 0;
                for (int64_t i = i0; i < m && i < i0 + 32; i++) q = fmaf(g[i * n + j], x[i * k + t], q);
                s += q;
                if (acc && i0 == 32) s += tokitai_load_as(rt, before, at);
            }
            if (acc && m <= 32) s += tokitai_load_as(rt, before, at);
            tokitai_store_as(rt, gw, at, s);
        }
    free(g);
    free(x);
    return 0;
}
