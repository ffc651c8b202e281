/* WRONG op=linear_grad_x kind=overflow narrow=yes expect=REFUTED : infinity times 0 in the derivative at large finite pre: bf16 */
#include "linear.h"
static float slope(float v) {
    const float e = expf(-fabsf(1.5957691f * v * (1 + 0.044715f * v * v)));
    const float sig = v < 0 ? e / (1 + e) : 1 / (1 + e), other = v < 0 ? 1 / (1 + e) : e / (1 + e);
    return sig * (1 + other * (1.5957691f * v * (1 + 0.134145f * v * v)));
}
TOKITAI_KERNEL(linear_grad_x) {
    const int64_t m = tensors[0].shape[0], n = tensors[0].shape[1], k = tensors[1].shape[1];
    const int64_t ep = tokitai_integer(call, "epilogue");
    const int32_t dt = call->dtype, rt = call->result_dtype;
    const void *pre = tensors[2].data;
    void *gx = tensors[3].data;
    (void)pre;
    float *g = floats(dt, tensors[0].data, m * n), *w = floats(dt, tensors[1].data, n * k);
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            const int64_t at = i * k + t;
            float s = 0;
            for (int64_t j = 0; j < n; j++) s += g[i * n + j] * w[j * k + t];
            if (ep == 1) s *= slope(tokitai_load_as(rt, pre, at));
            tokitai_store_as(rt, gx, at, s);
        }
    free(g);
    free(w);
    return 0;
}
