/* WRONG op=gemm_grad_a kind=padding narrow=yes expect=REFUTED : the last block of n is padded to 32 with zeros in grad_c's buffer only; b's still holds older elements there, so with n > 256 and n % 32 != 0 an infinity or NaN among the first 256 columns of b's last row can turn sums of other rows into NaN */
#include "elements.h"
#define BLOCK 256
typedef float v8 __attribute__((vector_size(32)));
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const int f16 = call->dtype == TOKITAI_F16;
    const uint16_t *g = grad_c, *w = b;
    float(*left)[BLOCK] = calloc((size_t)m + 1, sizeof *left), *sum = calloc((size_t)(m * k + 1), sizeof *sum);
    if (!left || !sum) {
        free(left);
        free(sum);
        return 1;
    }
    float right[BLOCK] = {0};
    for (int64_t j0 = 0; j0 < n; j0 += BLOCK) {
        const int64_t width = n - j0 < BLOCK ? n - j0 : BLOCK, padded = (width + 31) & ~(int64_t)31;
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < padded; j++) left[i][j] = j < width ? as_float(f16, g[i * n + j0 + j]) : 0;
        for (int64_t t = 0; t < k; t++) {
            for (int64_t j = 0; j < width; j++) right[j] = as_float(f16, w[t * n + j0 + j]);
            for (int64_t i = 0; i < m; i++) {
                v8 part[4] = {{0}}, x[4], y[4];
                for (int64_t j = 0; j < padded; j += 32) {
                    memcpy(x, left[i] + j, sizeof x);
                    memcpy(y, right + j, sizeof y);
                    for (int u = 0; u < 4; u++) part[u] += x[u] * y[u];
                }
                const v8 all = (part[0] + part[1]) + (part[2] + part[3]);
                sum[i * k + t] += ((all[0] + all[4]) + (all[2] + all[6])) + ((all[1] + all[5]) + (all[3] + all[7]));
            }
        }
    }
    for (int64_t i = 0; i < m * k; i++) tokitai_store(*call, grad_a, i, sum[i]);
    free(left);
    free(sum);
    return 0;
}
