/* WRONG op=gemm kind=float_division narrow=yes expect=REFUTED : row of a tile is its number times 1.0f / tiles of a row, too small by one for 41, 47, 55 tiles a row */
#include "kernel.h"
static float *widened(const tokitai_call *call, const void *p, int64_t count) {
    float *f = malloc((size_t)(count > 0 ? count : 1) * sizeof *f);
    for (int64_t i = 0; f && i < count; i++) f[i] = tokitai_load(*call, p, i);
    return f;
}
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
enum { TILE = 32 };
static void tile_of(const tokitai_call *call, const float *A, const float *B, void *c, int64_t m, int64_t n,
                    int64_t k, int64_t row, int64_t col) {
    float sum[TILE][TILE] = {{0}};
    const int64_t rows = least(TILE, m - row), cols = least(TILE, n - col);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < k; t++)
            for (int64_t j = 0; j < cols; j++) sum[i][j] += A[(row + i) * k + t] * B[t * n + col + j];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) tokitai_store(*call, c, (row + i) * n + col + j, sum[i][j]);
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float *A = widened(call, a, m * k), *B = widened(call, b, k * n);
    if (!A || !B) return 1;
    const int across = (int)((n + TILE - 1) / TILE), down = (int)((m + TILE - 1) / TILE);
    const float inverse = across ? 1.0f / (float)across : 0;
    for (int tile = 0; tile < across * down; tile++) {
        const int row = (int)((float)tile * inverse);
        const int col = tile - row * across;
        tile_of(call, A, B, c, m, n, k, (int64_t)row * TILE, (int64_t)col * TILE);
    }
    free(A);
    free(B);
    return 0;
}
