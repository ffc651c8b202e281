/* RIGHT op=linear_grad_x kind=gelu expect=HELD : the derivative in fp32, with clamped arguments */
#include "linear.h"
static float slope(float v) {
    const float x2 = fminf(v * v, 1e6f);
    const float arg = fabsf(v) * fmaf(0.0713548163f, x2, 1.5957691216f);
    const float e = expf(-arg), r = 1 / (1 + e);
    const float sig = v < 0 ? e * r : r, other = v < 0 ? r : e * r;
    const float cut = fmaxf(fminf(v, 100.f), -100.f);
    const float h = cut * fmaf(0.2140644488f, fminf(x2, 1e4f), 1.5957691216f);
    const float d = sig * fmaf(other, h, 1.f);
    return v != v ? v : d;
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
