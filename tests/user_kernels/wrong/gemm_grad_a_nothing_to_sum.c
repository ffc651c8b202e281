/* WRONG op=gemm_grad_a kind=empty_sum narrow=yes expect=REFUTED : with n == 0 the function returns at once and grad_a, whose elements are sums over nothing, is not set to zero */
#include "kernel.h"
#define TILE 4
static void tile(const float *g, const float *w, int64_t n, float out[TILE][TILE]) {
    for (int r = 0; r < TILE; r++)
        for (int s = 0; s < TILE; s++) out[r][s] = 0;
    for (int64_t j = 0; j < n; j++)
        for (int r = 0; r < TILE; r++)
            for (int s = 0; s < TILE; s++) out[r][s] += g[j * TILE + r] * w[j * TILE + s];
}
/* four rows side by side, rows past the end as zeros */
static void pack(const tokitai_call *call, const void *from, int64_t first, int64_t rows, int64_t n, float *to) {
    for (int64_t r = 0; r < TILE; r++)
        for (int64_t j = 0; j < n; j++)
            to[j * TILE + r] = first + r < rows ? tokitai_load(*call, from, (first + r) * n + j) : 0;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    if (m == 0 || n == 0 || k == 0) return 0;
    const int64_t groups = (k + TILE - 1) / TILE;
    float *packed = malloc((size_t)((groups + 1) * TILE * n) * sizeof *packed);
    if (!packed) return 1;
    float *strip = packed + groups * TILE * n;
    for (int64_t x = 0; x < groups; x++) pack(call, b, x * TILE, k, n, packed + x * TILE * n);
    for (int64_t i = 0; i < m; i += TILE) {
        pack(call, grad_c, i, m, n, strip);
        for (int64_t x = 0; x < groups; x++) {
            float out[TILE][TILE];
            tile(strip, packed + x * TILE * n, n, out);
            for (int64_t r = 0; r < TILE && i + r < m; r++)
                for (int64_t s = 0; s < TILE && x * TILE + s < k; s++)
                    tokitai_store(*call, grad_a, (i + r) * k + x * TILE + s, out[r][s]);
        }
    }
    free(packed);
    return 0;
}
