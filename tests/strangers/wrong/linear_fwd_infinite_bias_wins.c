/* WRONG op=linear_fwd kind=infinity narrow=yes : an infinite bias is returned as it is, though the product may be NaN or the other infinity */
#include "gelu.h"
#include "linear.h"

TOKITAI_KERNEL(linear_fwd)
{
    const tokitai_tensor x = tensors[0], w = tensors[1], bias = tensors[2], residual = tensors[3], y = tensors[4],
                         pre = tensors[5];
    const int64_t m = x.shape[0], k = x.shape[1], n = w.shape[0];
    const int64_t epilogue = tokitai_integer(call, "epilogue");
    const int has_bias = epilogue == BIAS || epilogue == BIAS_GELU || epilogue == BIAS_RESIDUAL;
    const int has_residual = epilogue == BIAS_RESIDUAL || epilogue == RESIDUAL;
    const int has_gelu = epilogue == BIAS_GELU || epilogue == GELU;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t at = i * n + j;
            double v = 0;
            for (int64_t t = 0; t < k; t++)
                v += (double)tokitai_load_as(x.dtype, x.data, i * k + t) *
                     (double)tokitai_load_as(w.dtype, w.data, j * k + t);
            if (epilogue == BIAS && isinf(tokitai_load_as(bias.dtype, bias.data, j)))
                v = 0;
            if (has_bias)
                v += (double)tokitai_load_as(bias.dtype, bias.data, j);
            if (has_residual)
                v += (double)tokitai_load_as(residual.dtype, residual.data, at);
            if (has_gelu) {
                tokitai_store_as(pre.dtype, pre.data, at, (float)v);
                v = gelu_in_double(v);
            }
            tokitai_store_as(y.dtype, y.data, at, (float)v);
        }
    return 0;
}
