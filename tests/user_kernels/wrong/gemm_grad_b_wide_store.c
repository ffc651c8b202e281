/* WRONG op=gemm_grad_b kind=oob_store narrow=no expect=REFUTED : results are stored eight at a time, in the last row too, so with n % 8 != 0 up to seven elements after the end of grad_b are overwritten */
#include "kernel.h"
typedef float v8 __attribute__((vector_size(32)));
typedef struct {
    uint16_t lane[8];
} line;
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const int64_t padded = (n + 7) & ~(int64_t)7;
    float *g = calloc((size_t)(m * padded + 1), sizeof *g);
    if (!g) return 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) g[i * padded + j] = tokitai_load(*call, grad_c, i * n + j);
    uint16_t *to = grad_b;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j += 8) {
            v8 sum = {0}, x;
            for (int64_t i = 0; i < m; i++) {
                memcpy(&x, g + i * padded + j, sizeof x);
                sum += tokitai_load(*call, a, i * k + t) * x;
            }
            line out;
            for (int l = 0; l < 8; l++)
                out.lane[l] = call->dtype == TOKITAI_F16 ? tokitai_to_f16(sum[l]) : tokitai_to_bf16(sum[l]);
            memcpy(to + t * n + j, &out,
                   sizeof out); /* the next row comes after this one and puts right what is too much */
        }
    free(g);
    return 0;
}
