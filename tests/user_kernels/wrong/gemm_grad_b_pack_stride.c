/* WRONG op=gemm_grad_b kind=stride narrow=no expect=REFUTED : a tile of grad_c is packed with its own width as stride but read with a stride of 32, so the last column tile is wrong whenever n % 32 != 0 and m > 1 */
#include "kernel.h"
#define NC 32
#define MC 16
static void pack(const tokitai_call *call, const void *g, int64_t n, int64_t i, int64_t rows, int64_t j,
                 int64_t width, float *tile) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t l = 0; l < width; l++) tile[r * width + l] = tokitai_load(*call, g, (i + r) * n + j + l);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    float *sum = malloc((size_t)(k * NC + 1) * sizeof *sum);
    if (!sum) return 1;
    float tile[MC * NC] = {0};
    for (int64_t j = 0; j < n; j += NC) {
        const int64_t width = n - j < NC ? n - j : NC;
        memset(sum, 0, (size_t)(k * NC) * sizeof *sum);
        for (int64_t i = 0; i < m; i += MC) {
            const int64_t rows = m - i < MC ? m - i : MC;
            pack(call, grad_c, n, i, rows, j, width, tile);
            for (int64_t t = 0; t < k; t++)
                for (int64_t r = 0; r < rows; r++) {
                    const float x = tokitai_load(*call, a, (i + r) * k + t);
                    for (int l = 0; l < NC; l++) sum[t * NC + l] += x * tile[r * NC + l];
                }
        }
        for (int64_t t = 0; t < k; t++)
            for (int64_t l = 0; l < width; l++) tokitai_store(*call, grad_b, t * n + j + l, sum[t * NC + l]);
    }
    free(sum);
    return 0;
}
