/* linear_fwd with sums in double. A kernel that includes this defines before what it does otherwise. */
#include "gelu.h"
#include "linear.h"
#ifndef AT_FIRST
#define AT_FIRST
#endif
#ifndef BEFORE_SUM
#define BEFORE_SUM
#endif
#ifndef TERMS
#define TERMS k
#endif
#ifndef AFTER_SUM
#define AFTER_SUM
#endif
#ifndef WITH_BIAS
#define WITH_BIAS has_bias
#endif
#ifndef BIAS_AT
#define BIAS_AT j
#endif
#ifndef WITH_RESIDUAL
#define WITH_RESIDUAL has_residual
#endif
#ifndef RESIDUAL_TYPE
#define RESIDUAL_TYPE residual.dtype
#endif
#ifndef BEFORE_GELU
#define BEFORE_GELU
#endif
TOKITAI_KERNEL(linear_fwd) {
    const tokitai_tensor x = tensors[0], w = tensors[1], bias = tensors[2], residual = tensors[3], y = tensors[4],
                         pre = tensors[5];
    const int64_t m = x.shape[0], k = x.shape[1], n = w.shape[0];
    const int64_t epilogue = tokitai_integer(call, "epilogue");
    const int has_bias = epilogue == BIAS || epilogue == BIAS_GELU || epilogue == BIAS_RESIDUAL;
    const int has_residual = epilogue == BIAS_RESIDUAL || epilogue == RESIDUAL;
    const int has_gelu = epilogue == BIAS_GELU || epilogue == GELU;
    AT_FIRST
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t at = i * n + j;
            double v = 0;
            BEFORE_SUM
            for (int64_t t = 0; t < TERMS; t++)
                v += (double)tokitai_load_as(x.dtype, x.data, i * k + t) *
                     (double)tokitai_load_as(w.dtype, w.data, j * k + t);
            AFTER_SUM
            if (WITH_BIAS) v += (double)tokitai_load_as(bias.dtype, bias.data, BIAS_AT);
            if (WITH_RESIDUAL) v += (double)tokitai_load_as(RESIDUAL_TYPE, residual.data, at);
            if (has_gelu) {
                BEFORE_GELU
                tokitai_store_as(pre.dtype, pre.data, at, (float)v);
                v = gelu_in_double(v);
            }
            tokitai_store_as(y.dtype, y.data, at, (float)v);
        }
    return 0;
}
