/* WRONG op=gemm_grad_b kind=split_lost narrow=yes expect=REFUTED : partial sums of 96 rows each are added up in a tree that halves their number, and an odd one at the end is forgotten, so it fails for m > 192 unless the number of parts is a power of two */
#include "kernel.h"
#define ROWS 96
static void partial(const tokitai_call *call, int64_t first, int64_t last, int64_t n, int64_t k, const void *g,
                    const void *a, float *sum) {
    for (int64_t i = first; i < last; i++)
        for (int64_t t = 0; t < k; t++) {
            const float x = tokitai_load(*call, a, i * k + t);
            for (int64_t j = 0; j < n; j++) sum[t * n + j] += x * tokitai_load(*call, g, i * n + j);
        }
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    int64_t parts = m > ROWS ? (m + ROWS - 1) / ROWS : 1;
    const int64_t size = k * n;
    float *sum = calloc((size_t)(parts * size + 1), sizeof *sum);
    if (!sum) return 1;
    for (int64_t p = 0; p < parts; p++)
        partial(call, p * ROWS, m < (p + 1) * ROWS ? m : (p + 1) * ROWS, n, k, grad_c, a, sum + p * size);
    for (; parts > 1; parts /= 2) {
        const int64_t half = parts / 2;
        for (int64_t e = 0; e < half * size; e++) sum[e] += sum[half * size + e];
    }
    for (int64_t e = 0; e < size; e++) tokitai_store(*call, grad_b, e, sum[e]);
    free(sum);
    return 0;
}
