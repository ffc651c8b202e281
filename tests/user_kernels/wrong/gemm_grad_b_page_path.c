/* WRONG op=gemm_grad_b kind=address_dependent narrow=yes expect=REFUTED : if grad_c and grad_b lie at nearly the same offset of their pages another loop is taken, which adds rows in pairs, so the bits depend on the addresses */
#include "kernel.h"
/* loads that follow a store at the same page offset are held up */
static int aliased(const void *x, const void *y) { return (((uintptr_t)x - (uintptr_t)y) & 4095) < 64; }
static void widen(const tokitai_call *call, const void *from, int64_t row, int64_t count, float *to) {
    for (int64_t j = 0; j < count; j++) to[j] = tokitai_load(*call, from, row * count + j);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    float *sum = calloc((size_t)(k * n + 2 * n + 1), sizeof *sum);
    if (!sum) return 1;
    float *g0 = sum + k * n, *g1 = g0 + n;
    int64_t i = 0;
    if (aliased(grad_c, grad_b))
        for (; i + 2 <= m; i += 2) { /* half the passes over the sums */
            widen(call, grad_c, i, n, g0);
            widen(call, grad_c, i + 1, n, g1);
            for (int64_t t = 0; t < k; t++) {
                const float x = tokitai_load(*call, a, i * k + t), y = tokitai_load(*call, a, (i + 1) * k + t);
                for (int64_t j = 0; j < n; j++) sum[t * n + j] += x * g0[j] + y * g1[j];
            }
        }
    for (; i < m; i++) {
        widen(call, grad_c, i, n, g0);
        for (int64_t t = 0; t < k; t++) {
            const float x = tokitai_load(*call, a, i * k + t);
            for (int64_t j = 0; j < n; j++) sum[t * n + j] += x * g0[j];
        }
    }
    for (int64_t e = 0; e < k * n; e++) tokitai_store(*call, grad_b, e, sum[e]);
    free(sum);
    return 0;
}
