/* WRONG op=gemm_grad_b kind=saturate narrow=yes expect=REFUTED : fp16 results are clamped to the largest finite value, so sums of 65520 and more, and infinities, give 65504 */
#include "kernel.h"
#define TILE 8
static float clamp(float v) {
    v = v > 65504.0f ? 65504.0f : v;
    return v < -65504.0f ? -65504.0f : v;
}
static float at(const tokitai_call *call, const void *from, int64_t row, int64_t col, int64_t cols) {
    return col < cols ? tokitai_load(*call, from, row * cols + col) : 0;
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    for (int64_t t = 0; t < k; t += TILE)
        for (int64_t j = 0; j < n; j += TILE) {
            float sum[TILE][TILE] = {{0}};
            for (int64_t i = 0; i < m; i++) {
                float x[TILE], y[TILE];
                for (int64_t l = 0; l < TILE; l++) {
                    x[l] = at(call, a, i, t + l, k);
                    y[l] = at(call, grad_c, i, j + l, n);
                }
                for (int r = 0; r < TILE; r++)
                    for (int s = 0; s < TILE; s++) sum[r][s] += x[r] * y[s];
            }
            for (int64_t r = 0; r < TILE && t + r < k; r++)
                for (int64_t s = 0; s < TILE && j + s < n; s++) {
                    const float v = call->dtype == TOKITAI_F16 ? clamp(sum[r][s]) : sum[r][s];
                    tokitai_store(*call, grad_b, (t + r) * n + j + s, v);
                }
        }
    return 0;
}
