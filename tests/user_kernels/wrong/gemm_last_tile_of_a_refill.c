/* WRONG op=gemm kind=tile_counter narrow=yes expect=REFUTED : the queue of tiles is filled again after 1024 of them; the last of each filling begins before its last block of the sum has come */
#include "kernel.h"
static float *widened(const tokitai_call *call, const void *p, int64_t count) {
    float *f = malloc((size_t)(count > 0 ? count : 1) * sizeof *f);
    for (int64_t i = 0; f && i < count; i++) f[i] = tokitai_load(*call, p, i);
    return f;
}
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
enum { TILE = 16, QUEUE = 1024, DEPTH = 32 };
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    float *A = widened(call, a, m * k), *B = widened(call, b, k * n);
    if (!A || !B) return 1;
    const int64_t across = (n + TILE - 1) / TILE, down = (m + TILE - 1) / TILE;
    int64_t left = QUEUE;
    for (int64_t tile = 0; tile < across * down; tile++) {
        float sum[TILE][TILE] = {{0}};
        const int64_t row = tile / across * TILE, col = tile % across * TILE;
        const int64_t rows = least(TILE, m - row), cols = least(TILE, n - col);
        int64_t depth = k;
        if (--left == 0) {
            left = QUEUE;
            depth = k > DEPTH ? (k - 1) / DEPTH * DEPTH : k;
        }
        for (int64_t i = 0; i < rows; i++)
            for (int64_t t = 0; t < depth; t++)
                for (int64_t j = 0; j < cols; j++) sum[i][j] += A[(row + i) * k + t] * B[t * n + col + j];
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++) tokitai_store(*call, c, (row + i) * n + col + j, sum[i][j]);
    }
    free(A);
    free(B);
    return 0;
}
