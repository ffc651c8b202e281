/* RIGHT op=gemm_grad_b kind=outer_product expect=HELD : tiles of 3 by 8 as sums of outer products with vector types, over packed blocks of 200 rows whose sums stay in fp32 from block to block */
#include "elements.h"
#define MC 200
#define KR 3
typedef float v8 __attribute__((vector_size(32)));
/* groups of width columns side by side: to[group][row][width], zeros past the end */
static void pack(const tokitai_call *call, const void *from, int64_t first, int64_t rows, int64_t cols, int width,
                 float *to) {
    for (int64_t c0 = 0; c0 < cols; c0 += width)
        for (int64_t r = 0; r < rows; r++)
            for (int l = 0; l < width; l++)
                *to++ = c0 + l < cols ? tokitai_load(*call, from, (first + r) * cols + c0 + l) : 0;
}
static void tile(const float *a, const float *g, int64_t rows, float *sum) {
    v8 s[KR], x;
    memcpy(s, sum, sizeof s);
    for (int64_t i = 0; i < rows; i++) {
        memcpy(&x, g + 8 * i, sizeof x);
        for (int r = 0; r < KR; r++) s[r] += a[KR * i + r] * x;
    }
    memcpy(sum, s, sizeof s);
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const int64_t down = (k + KR - 1) / KR, across = (n + 7) / 8;
    float *sum = calloc((size_t)(down * across * KR * 8 + MC * (down * KR + across * 8) + 1), sizeof *sum);
    if (!sum) return 1;
    float *pa = sum + down * across * KR * 8, *pg = pa + MC * down * KR;
    for (int64_t i = 0; i < m; i += MC) {
        const int64_t rows = least(MC, m - i);
        pack(call, a, i, rows, k, KR, pa);
        pack(call, grad_c, i, rows, n, 8, pg);
        for (int64_t x = 0; x < down; x++)
            for (int64_t y = 0; y < across; y++)
                tile(pa + x * rows * KR, pg + y * rows * 8, rows, sum + (x * across + y) * KR * 8);
    }
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++)
            tokitai_store(*call, grad_b, t * n + j, sum[(t / KR * across + j / 8) * KR * 8 + t % KR * 8 + j % 8]);
    free(sum);
    return 0;
}
