/* WRONG op=linear_fwd kind=same_bytes narrow=yes dtype=f16 expect=REFUTED : y is kept under a hash of all sizes and inputs, but not of the epilogue */
#include "kernel.h"
static float *widened(const tokitai_call *call, const void *p, int64_t count) {
    float *f = malloc((size_t)(count > 0 ? count : 1) * sizeof *f);
    for (int64_t i = 0; f && i < count; i++) f[i] = tokitai_load(*call, p, i);
    return f;
}
static float dot(const float *x, const float *y, int64_t count) {
    float sum = 0;
    for (int64_t t = 0; t < count; t++) sum += x[t] * y[t];
    return sum;
}
static double gelu(double v) { return v / (1 + exp(-1.5957691216057308 * (v + 0.044715 * v * v * v))); }
static void finish(const tokitai_call *call, int with_gelu, float v, void *y, void *pre, int64_t at) {
    if (with_gelu) tokitai_store_result(*call, pre, at, v);
    tokitai_store_result(*call, y, at, with_gelu ? (float)gelu((double)v) : v);
}
static struct {
    uint64_t key;
    int64_t count;
    uint16_t *y;
} last;
static uint64_t hashed(uint64_t h, const uint16_t *p, int64_t count) {
    for (int64_t i = 0; i < count; i++) h = (h ^ p[i]) * 0x100000001b3ull;
    return (h ^ (uint64_t)count) * 0x100000001b3ull;
}
TOKITAI_KERNEL(linear_fwd) {
    const int64_t m = tensors[0].shape[0], n = tensors[1].shape[0], k = tensors[0].shape[1];
    const void *bias = tensors[2].data, *residual = tensors[3].data;
    void *y = tensors[4].data, *pre = tensors[5].data;
    const int64_t epilogue = tokitai_integer(call, "epilogue");
    const int with_bias = epilogue == 0 || epilogue == 1 || epilogue == 3;
    const int with_residual = epilogue == 3 || epilogue == 4;
    const int with_gelu = epilogue == 1 || epilogue == 2;
    float *X = widened(call, tensors[0].data, m * k), *W = widened(call, tensors[1].data, n * k);
    if (!X || !W) return 1;
    uint64_t key = hashed(hashed(0xcbf29ce484222325ull, tensors[0].data, m * k), tensors[1].data, n * k);
    key = hashed(hashed(key, bias, with_bias ? n : 0), residual, with_residual ? m * n : 0);
    const int again = last.y && last.key == key && last.count == m * n;
    if (!again) {
        free(last.y);
        last.y = malloc((size_t)(m * n) * 2 + 2);
        last.key = key;
        last.count = m * n;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            if (again && !with_gelu) {
                ((uint16_t *)y)[i * n + j] = last.y[i * n + j];
                continue;
            }
            float v = dot(X + i * k, W + j * k, k);
            if (with_bias) v += tokitai_load(*call, bias, j);
            if (with_residual) v += tokitai_load_as(call->result_dtype, residual, i * n + j);
            finish(call, with_gelu, v, y, pre, i * n + j);
            if (last.y) last.y[i * n + j] = ((uint16_t *)y)[i * n + j];
        }
    free(X);
    free(W);
    return 0;
}
