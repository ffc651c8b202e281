/* linear_fwd with sums in float, of factors that are converted first. A kernel that includes this defines before what it does otherwise. */
#include "gelu.h"
#include "linear.h"
#ifndef BEFORE_SUM
#define BEFORE_SUM
#endif
TOKITAI_KERNEL(linear_fwd) {
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
            BEFORE_SUM
            for (int64_t t = 0; t < k; t++) s += x[i * k + t] * w[j * k + t];
#ifdef ADD_BIAS
            ADD_BIAS
#else
            if (has_bias) s += tokitai_load_as(dt, bias, j);
#endif
#ifdef ADD_RESIDUAL
            ADD_RESIDUAL
#else
            if (has_res) s += tokitai_load_as(rt, residual, at);
#endif
#ifdef THROUGH_GELU
            THROUGH_GELU
#else
            if (has_gelu) {
                tokitai_store_as(rt, pre, at, s);
                s = gelu_of_abs(s);
            }
#endif
            tokitai_store_as(rt, y, at, s);
        }
    free(x);
    free(w);
    return 0;
}
