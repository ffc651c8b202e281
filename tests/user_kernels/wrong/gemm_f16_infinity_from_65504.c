/* WRONG op=gemm kind=overflow_edge narrow=yes expect=REFUTED : its own fp32 to fp16 gives infinity above 65504, not from 65520 on */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>
#define A(i, t) ((float)tokitai_load(*call, a, (i)*k + (t)))
#define B(t, j) ((float)tokitai_load(*call, b, (t)*n + (j)))
#define C(i, j, v) tokitai_store_result(*call, c, (i)*n + (j), (v))
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t t = 0; t < k; t++) sum += A(i, t) * B(t, j);
            if (call->result_dtype == TOKITAI_F16 && fabsf(sum) > 65504.0f) sum = sum > 0 ? INFINITY : -INFINITY;
            C(i, j, sum);
        }
    return 0;
}
