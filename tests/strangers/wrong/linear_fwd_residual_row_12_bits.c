/* WRONG op=linear_fwd kind=index_overflow narrow=yes : the row of the residual is kept in 12 bits */
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
            for (int64_t t = 0; t < k; t++)
                s += x[i * k + t] * w[j * k + t];
            if (has_bias)
                s += tokitai_load_as(dt, bias, j);
            if (has_res)
                s += tokitai_load_as(rt, residual, (i & 4095) * n + j);
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
