/* WRONG op=gemm kind=uint8_tile_counter narrow=yes expect=REFUTED : the number of column tiles of 16 is held in 8 bits, so that from n = 4081 on columns stay unwritten */
#include "kernel.h"
enum { NR = 16 };
typedef struct {
    uint8_t col_tiles;
    uint8_t last_width;
} plan;
static plan make_plan(int64_t n) {
    plan p = {(uint8_t)((n + NR - 1) / NR), (uint8_t)(n % NR ? n % NR : NR)};
    return p;
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const tokitai_call cl = *call;
    const plan p = make_plan(n);
    for (int64_t i = 0; i < m; i++)
        for (int tile = 0; tile < p.col_tiles; tile++) {
            const int64_t j0 = (int64_t)tile * NR;
            const int width = tile == p.col_tiles - 1 ? p.last_width : NR;
            float acc[NR] = {0};
            for (int64_t t = 0; t < k; t++) {
                const float av = tokitai_load(cl, a, i * k + t);
                for (int l = 0; l < width; l++) acc[l] += av * tokitai_load(cl, b, t * n + j0 + l);
            }
            for (int l = 0; l < width; l++) tokitai_store(cl, c, i * n + j0 + l, acc[l]);
        }
    return 0;
}
