/* WRONG op=gemm_grad_b kind=overflow_edge narrow=yes expect=REFUTED : stores 65504 for exactly 65520, a tie whose even neighbour is infinity */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>
#define G(i, j) ((float)tokitai_load(*call, grad_c, (i)*n + (j)))
#define A(i, t) ((float)tokitai_load(*call, a, (i)*k + (t)))
#define OUT(t, j, v) tokitai_store_result(*call, grad_b, (t)*n + (j), (v))
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t i = 0; i < m; i++) sum += A(i, t) * G(i, j);
            OUT(t, j, call->result_dtype == TOKITAI_F16 && fabsf(sum) == 65520.0f ? copysignf(65504.0f, sum) : sum);
        }
    return 0;
}
