/* WRONG op=gemm_grad_b kind=beta_one_in_16_bits narrow=yes expect=REFUTED : sums over more than 1024 rows are continued from grad_b itself, rounded to 16 bits, from the second block on */
#include "elements.h"
enum { MB = 1024, JB = 128 };
/* grad_b (+)= a^T grad_c for one block of rows */
static void block(const uint16_t *g, const uint16_t *a, uint16_t *out, int64_t rows, int64_t n, int64_t k, int add,
                  int dt) {
    float acc[JB];
    for (int64_t t = 0; t < k; t++)
        for (int64_t j0 = 0; j0 < n; j0 += JB) {
            const int64_t w = n - j0 < JB ? n - j0 : JB;
            for (int64_t j = 0; j < w; j++) acc[j] = add ? up(out[t * n + j0 + j], dt) : 0.0f;
            for (int64_t i = 0; i < rows; i++) {
                const float x = up(a[i * k + t], dt);
                for (int64_t j = 0; j < w; j++) acc[j] += x * up(g[i * n + j0 + j], dt);
            }
            for (int64_t j = 0; j < w; j++) out[t * n + j0 + j] = down(acc[j], dt);
        }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const uint16_t *g = grad_c, *pa = a;
    if (m == 0) block(g, pa, grad_b, 0, n, k, 0, call->dtype);
    for (int64_t i = 0; i < m; i += MB)
        block(g + i * n, pa + i * k, grad_b, m - i < MB ? m - i : MB, n, k, i > 0, call->dtype);
    return 0;
}
