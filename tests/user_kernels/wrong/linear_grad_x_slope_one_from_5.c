/* WRONG op=linear_grad_x kind=approximation narrow=yes dtype=f16-f32 expect=REFUTED : the derivative is 1 from 5 on, which fp32 results show up to 5.4 */
#include "linear.h"
static double slope(double v) {
    const double c = 0.79788456080286535588, a = 0.044715;
    if (v > 20) return 1;
    if (v < -20) return 0;
    const double e = exp(-2 * c * (v + a * v * v * v));
    return (1 + 2 * c * v * (1 + 3 * a * v * v) * e / (1 + e)) / (1 + e);
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
            if (ep == 1) {
                const float v = tokitai_load_as(rt, pre, at);
                s = v >= 5 ? s : (float)((double)s * slope((double)v));
            }
            tokitai_store_as(rt, gx, at, s);
        }
    free(g);
    free(w);
    return 0;
}
