/* Which tile a product is cut into on a GPU. The tile does not change the bits. */
#include "ops/gemm/launch_gpu.h"

#include "backend/gpu.h"

static const char source[] = "ops/gemm/kernel.cu";

/* More tiles than this are taken in turn: a launch has fewer than 2^32 threads in all on some devices. */
enum { MOST_BLOCKS = 1 << 22 };

static int64_t tiles_of(const tki_gemm_params *p, int64_t tile)
{
    return ((p->rows + tile - 1) / tile) * ((p->cols + tile - 1) / tile);
}

tk_status tki_gemm_launch_gpu(const tki_call *call, const tki_gemm_params *p)
{
    if (p->rows == 0 || p->cols == 0)
        return TK_OK;
    const bool large = tiles_of(p, 128) >= tki_gpu_describe(call->gpu)->units;
    const unsigned tile = large ? 128 : 64;
    const int64_t tiles = tiles_of(p, tile);
    const tki_gpu_grid grid = {.blocks = {tiles < MOST_BLOCKS ? (unsigned)tiles : MOST_BLOCKS},
                               .threads = tile * TKI_GEMM_THREADS_PER_LINE};
    return tki_gpu_run(call, source, large ? "product_128" : "product_64", grid, p);
}
