/* UNTRUSTED. Matrix products on any GPU: a block computes a square of the output (kernel_tiles.h). */
#include "ops/product/kernel_tiles.h"

/* Blocks take tiles in turn, so that any number of blocks does the work. */
template <int TILE> DEVICE void multiply(const tki_gemm_params &p)
{
    const int64_t tiles_across = (p.cols + TILE - 1) / TILE;
    const int64_t tiles = (p.rows + TILE - 1) / TILE * tiles_across;
    int stage = 0;
    for (int64_t tile = block_index(); tile < tiles; tile += block_count())
        multiply_tile<TILE>(p, tile / tiles_across * TILE, tile % tiles_across * TILE, stage);
}

KERNEL(128 * TKI_GEMM_THREADS_PER_LINE, 2, product_128, tki_gemm_params)
{
    multiply<128>(p);
}

/* For outputs that have too few large tiles to keep the device busy. */
KERNEL(64 * TKI_GEMM_THREADS_PER_LINE, 4, product_64, tki_gemm_params)
{
    multiply<64>(p);
}
