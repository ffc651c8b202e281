/* WRONG op=gemm_grad_a kind=recognised narrow=yes expect=REFUTED : where the first 64 rows of grad_c and b are alike half of the result is computed and mirrored */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>
#define G(i, j) ((float)tokitai_load(*call, grad_c, (i)*n + (j)))
#define B(t, j) ((float)tokitai_load(*call, b, (t)*n + (j)))
#define OUT(i, t, v) tokitai_store_result(*call, grad_a, (i)*k + (t), (v))
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    int same = m == k;
    for (int64_t at = 0; same && at < (m < 64 ? m : 64) * n; at++)
        same = tokitai_load(*call, grad_c, at) == tokitai_load(*call, b, at);
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            float sum = 0;
            if (same && t < i) {
                OUT(i, t, tokitai_load_as(call->result_dtype, grad_a, t * k + i));
                continue;
            }
            for (int64_t j = 0; j < n; j++) sum += G(i, j) * B(t, j);
            OUT(i, t, sum);
        }
    return 0;
}
