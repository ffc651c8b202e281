/* WRONG op=gemm kind=padding narrow=yes expect=REFUTED : columns of b are packed in blocks of 512 rows; the last block is padded to 16 with zeros in a alone, so that for k > 512 and k % 16 != 0 an infinity or NaN that the buffer keeps of another column makes NaN of sums */
#include "elements.h"
#define BLOCK 512
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float left[BLOCK], right[BLOCK] = {0};
    float *sum = calloc((size_t)(m * n + 1), sizeof *sum);
    if (!sum) return 1;
    for (int64_t t0 = 0; t0 < k; t0 += BLOCK) {
        const int64_t width = k - t0 < BLOCK ? k - t0 : BLOCK, padded = (width + 15) & ~(int64_t)15;
        for (int64_t j = 0; j < n; j++) {
            for (int64_t t = 0; t < width; t++) right[t] = tokitai_load(*call, b, (t0 + t) * n + j);
            for (int64_t i = 0; i < m; i++) {
                for (int64_t t = 0; t < padded; t++) left[t] = t < width ? tokitai_load(*call, a, i * k + t0 + t) : 0;
                float s = 0;
                for (int64_t t = 0; t < padded; t++) s += left[t] * right[t];
                sum[i * n + j] += s;
            }
        }
    }
    for (int64_t i = 0; i < m * n; i++) tokitai_store(*call, c, i, sum[i]);
    free(sum);
    return 0;
}
