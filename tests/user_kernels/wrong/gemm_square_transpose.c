/* WRONG op=gemm kind=square_special narrow=yes expect=REFUTED : with m == n == k >= 64 b is transposed by pairs of blocks, and a block on the ragged edge is cut to a square, so sizes that are no multiple of 32 lose a part of b */
#include "elements.h"
#define BLOCK 32
/* bt[j][t] = b[t][j], a block and its mirror image in one visit */
static void transpose_square(float *bt, const uint16_t *b, int64_t size, int f16) {
    for (int64_t x = 0; x < size; x += BLOCK)
        for (int64_t y = x; y < size; y += BLOCK) {
            const int64_t side = size - y < BLOCK ? size - y : BLOCK;
            for (int64_t r = x; r < x + side; r++)
                for (int64_t s = y; s < y + side; s++) {
                    bt[s * size + r] = as_float(f16, b[r * size + s]);
                    bt[r * size + s] = as_float(f16, b[s * size + r]);
                }
        }
}
static float dot(const float *x, const float *y, int64_t count) {
    float s[4] = {0, 0, 0, 0};
    int64_t t = 0;
    for (; t + 4 <= count; t += 4)
        for (int l = 0; l < 4; l++) s[l] += x[t + l] * y[t + l];
    for (; t < count; t++) s[0] += x[t] * y[t];
    return (s[0] + s[1]) + (s[2] + s[3]);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const int f16 = call->dtype == TOKITAI_F16;
    const uint16_t *pa = a, *pb = b;
    float *bt = calloc((size_t)(k * n + k + 1), sizeof *bt);
    if (!bt) return 1;
    float *row = bt + k * n;
    if (m == n && n == k && n >= 64) {
        transpose_square(bt, pb, n, f16);
    } else {
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < n; j++) bt[j * k + t] = as_float(f16, pb[t * n + j]);
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t t = 0; t < k; t++) row[t] = as_float(f16, pa[i * k + t]);
        for (int64_t j = 0; j < n; j++) tokitai_store(*call, c, i * n + j, dot(row, bt + j * k, k));
    }
    free(bt);
    return 0;
}
