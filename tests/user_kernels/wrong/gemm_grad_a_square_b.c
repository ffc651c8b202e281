/* WRONG op=gemm_grad_a kind=transpose narrow=yes expect=REFUTED : the layout of b is told from its shape, and a square b (n == k) is taken for one that is transposed already, so grad_c b is computed and not grad_c b^T */
#include "kernel.h"
/* the generic product: right is [depth, cols], or [cols, depth] if it is still to be transposed */
static int product(const tokitai_call *call, int64_t rows, int64_t cols, int64_t depth, const void *left,
                   const void *right, int64_t right_cols, void *out) {
    float *wide = malloc((size_t)(depth * cols + cols + 1) * sizeof *wide);
    if (!wide) return 1;
    float *sum = wide + depth * cols;
    if (right_cols == cols) {
        for (int64_t i = 0; i < depth * cols; i++) wide[i] = tokitai_load(*call, right, i);
    } else {
        for (int64_t t = 0; t < cols; t++)
            for (int64_t j = 0; j < depth; j++) wide[j * cols + t] = tokitai_load(*call, right, t * depth + j);
    }
    for (int64_t i = 0; i < rows; i++) {
        memset(sum, 0, (size_t)cols * sizeof *sum);
        for (int64_t j = 0; j < depth; j++) {
            const float x = tokitai_load(*call, left, i * depth + j);
            for (int64_t t = 0; t < cols; t++) sum[t] += x * wide[j * cols + t];
        }
        for (int64_t t = 0; t < cols; t++) tokitai_store(*call, out, i * cols + t, sum[t]);
    }
    free(wide);
    return 0;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    return product(call, m, k, n, grad_c, b, n, grad_a);
}
