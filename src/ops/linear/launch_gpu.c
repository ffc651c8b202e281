/* How a layer is cut into tiles on a GPU. */
#include "ops/linear/launch_gpu.h"

#include "runtime/gpu.h"

/* More tiles than this are taken in turn: a launch has fewer than 2^32 threads in all on some devices. */
enum { MOST_BLOCKS = 1 << 22 };

static int64_t tiles_along(int64_t size)
{
    return (size + TKI_LINEAR_TILE - 1) / TKI_LINEAR_TILE;
}

tk_status tki_linear_launch_gpu(const tki_call *call, const tki_linear_params *p)
{
    const int64_t tiles = tiles_along(p->rows) * tiles_along(p->cols);
    const tki_gpu_grid grid = {.blocks = {tiles < MOST_BLOCKS ? (unsigned)tiles : MOST_BLOCKS},
                               .threads = TKI_LINEAR_TILE * TKI_LINEAR_THREADS_PER_LINE};
    return tiles == 0 ? TK_OK : tki_gpu_run(call, "ops/linear/kernel.cu", "layer", grid, p);
}
