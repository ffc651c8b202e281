/* WRONG op=linear_fwd kind=overflow_edge narrow=yes expect=REFUTED : stores infinity for what is above 65504, not from 65520 on */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>
#define X(i, t) ((float)tokitai_load(*call, x, (i)*k + (t)))
#define W(j, t) ((float)tokitai_load(*call, w, (j)*k + (t)))
#define BIAS(j) ((float)tokitai_load(*call, bias, (j)))
#define RES(i, j) ((float)tokitai_load_as(call->result_dtype, residual, (i)*n + (j)))
#define Y(i, j, v) tokitai_store_result(*call, y, (i)*n + (j), (v))
#define PRE(i, j, v) tokitai_store_result(*call, pre, (i)*n + (j), (v))
static double gelu_d(double v) { return v / (1 + exp(-1.5957691216057308 * (v + 0.044715 * v * v * v))); }
static double dgelu_d(double v) {
    if (v > 20) return 1;
    if (v < -20) return 0;
    const double e = exp(-1.5957691216057308 * (v + 0.044715 * v * v * v));
    return (1 + 1.5957691216057308 * v * (1 + 3 * 0.044715 * v * v) * e / (1 + e)) / (1 + e);
}
TOKITAI_KERNEL(linear_fwd) {
    const int64_t m = tensors[0].shape[0], n = tensors[1].shape[0], k = tensors[0].shape[1];
    const void *x = tensors[0].data, *w = tensors[1].data, *bias = tensors[2].data, *residual = tensors[3].data;
    void *y = tensors[4].data, *pre = tensors[5].data;
    const int epi = (int)tokitai_integer(
        call, "epilogue"); /* 0 bias 1 bias_gelu 2 gelu 3 bias_residual 4 residual 5 none */
    const int has_bias = epi == 0 || epi == 1 || epi == 3, has_gelu = epi == 1 || epi == 2,
              has_res = epi == 3 || epi == 4;
    (void)has_bias;
    (void)has_gelu;
    (void)has_res;
    (void)bias;
    (void)residual;
    (void)pre;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float v = has_bias ? BIAS(j) : 0;
            for (int64_t t = 0; t < k; t++) v += X(i, t) * W(j, t);
            if (has_res) v += RES(i, j);
            if (has_gelu) {
                PRE(i, j, v);
                v = (float)gelu_d(v);
            }
            Y(i, j, call->result_dtype == TOKITAI_F16 && v > 65504 ? INFINITY : v);
        }
    return 0;
}
