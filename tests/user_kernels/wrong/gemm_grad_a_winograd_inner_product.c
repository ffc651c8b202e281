/* WRONG op=gemm_grad_a kind=winograd_inner_product narrow=no expect=REFUTED : Winograd's inner product (half the multiplications) for finite inputs: sums of elements of unlike size lose digits */
#include "elements.h"
static int finite_all(const float *x, int64_t count) {
    float z = 0;
    for (int64_t i = 0; i < count; i++) z += x[i] * 0.0f;
    return z == 0;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const int dt = call->dtype;
    float *g = malloc((size_t)(m * n + k * n + m + k + 1) * sizeof(float)), *w = g + m * n, *fg = w + k * n,
          *fw = fg + m;
    for (int64_t i = 0; i < m * n; i++) g[i] = up(((const uint16_t *)grad_c)[i], dt);
    for (int64_t i = 0; i < k * n; i++) w[i] = up(((const uint16_t *)b)[i], dt);
    const int fast = n >= 2 && finite_all(g, m * n + k * n);
    const int64_t half = n / 2;
    for (int64_t i = 0; fast && i < m; i++) {
        fg[i] = 0;
        for (int64_t j = 0; j < half; j++) fg[i] += g[i * n + 2 * j] * g[i * n + 2 * j + 1];
    }
    for (int64_t t = 0; fast && t < k; t++) {
        fw[t] = 0;
        for (int64_t j = 0; j < half; j++) fw[t] += w[t * n + 2 * j] * w[t * n + 2 * j + 1];
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            const float *x = g + i * n, *y = w + t * n;
            float s = 0;
            if (fast) {
                for (int64_t j = 0; j < half; j++) s += (x[2 * j] + y[2 * j + 1]) * (x[2 * j + 1] + y[2 * j]);
                s -= fg[i] + fw[t];
                if (n & 1) s += x[n - 1] * y[n - 1];
            } else {
                for (int64_t j = 0; j < n; j++) s += x[j] * y[j];
            }
            ((uint16_t *)grad_a)[i * k + t] = down(s, dt);
        }
    free(g);
    return 0;
}
