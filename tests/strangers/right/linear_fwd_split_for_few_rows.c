/* RIGHT op=linear_fwd kind=order : the order of a sum depends on m */
#include "gelu.h"
#include "linear.h"

TOKITAI_KERNEL(linear_fwd)
{
    const int64_t m = tensors[0].shape[0], n = tensors[1].shape[0], k = tensors[0].shape[1];
    const int64_t ep = tokitai_integer(call, "epilogue");
    const int has_bias = ep == 0 || ep == 1 || ep == 3, has_res = ep == 3 || ep == 4, has_gelu = ep == 1 || ep == 2;
    const int32_t dt = call->dtype, rt = call->result_dtype;
    const void *bias = tensors[2].data, *residual = tensors[3].data;
    void *y = tensors[4].data, *pre = tensors[5].data;
    (void)has_bias;
    (void)has_res;
    (void)has_gelu;
    (void)bias;
    (void)residual;
    (void)pre;

    float *x = floats(dt, tensors[0].data, m * k), *w = floats(dt, tensors[1].data, n * k);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t at = i * n + j;
            (void)at;
            float s = 0;
            float q[4] = {0};
            if (m < 8) {
                for (int64_t t = 0; t < k; t++)
                    q[t & 3] += x[i * k + t] * w[j * k + t];
                s = (q[0] + q[1]) + (q[2] + q[3]);
            } else
                for (int64_t t = 0; t < k; t++)
                    s += x[i * k + t] * w[j * k + t];
            if (has_bias)
                s += tokitai_load_as(dt, bias, j);
            if (has_res)
                s += tokitai_load_as(rt, residual, at);
            if (has_gelu) {
                tokitai_store_as(rt, pre, at, s);
                s = gelu_of_abs(s);
            }
            tokitai_store_as(rt, y, at, s);
        }
    free(x);
    free(w);
    return 0;
}
