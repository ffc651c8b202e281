/* UNTRUSTED. What a call is as a product, and which tile that is cut into on a GPU. The tile does not change the bits. */
#include "ops/product/launch_gpu.h"

#include "ops/product/params_tensor.h"
#include "runtime/gpu.h"

static const char source[] = "ops/product/kernel_gemm.cu", tensor_source[] = "ops/product/kernel_tensor.cu";

/* A factor of so many lines and places as it lies in memory. */
static tki_gemm_factor factor_of(const void *data, int64_t lines, int64_t places, bool across)
{
    return (tki_gemm_factor){data, across ? 1 : places, across ? lines : 1};
}

tki_linear_params tki_product_params_of(const tk_case *c, void *const buffers[])
{
    const tki_product_roles r = tki_product_roles_of(c->contract);
    const int64_t rows = c->dims[r.rows], cols = c->dims[r.cols], inner = c->dims[r.inner];
    return (tki_linear_params){.left = factor_of(buffers[r.left], rows, inner, r.left_across),
                               .right = factor_of(buffers[r.right], cols, inner, r.right_across),
                               .out = buffers[r.out],
                               .rows = rows,
                               .cols = cols,
                               .inner = inner,
                               .bias = tki_product_has(c, r.bias) ? buffers[r.bias] : NULL,
                               .other = tki_product_has(c, r.other) ? buffers[r.other] : NULL,
                               .pre = tki_product_has(c, r.pre) ? buffers[r.pre] : NULL,
                               .unactivated = tki_product_has(c, r.unactivated) ? buffers[r.unactivated] : NULL};
}

/* More tiles than this are taken in turn: a launch has fewer than 2^32 threads in all on some devices. */
enum { MOST_BLOCKS = 1 << 22 };

static int64_t tiles_of(const tki_gemm_params *p, int64_t rows, int64_t cols)
{
    return ((p->rows + rows - 1) / rows) * ((p->cols + cols - 1) / cols);
}

static tki_gpu_grid grid_of(int64_t tiles, unsigned threads)
{
    return (tki_gpu_grid){.blocks = {tiles < MOST_BLOCKS ? (unsigned)tiles : MOST_BLOCKS}, .threads = threads};
}

tk_status tki_gemm_launch_gpu(const tki_call *call, const tki_gemm_params *p)
{
    if (p->rows == 0 || p->cols == 0)
        return TK_OK;
    const bool large = tiles_of(p, 128, 128) >= tki_gpu_describe(call->gpu)->units;
    const unsigned tile = large ? 128 : 64;
    return tki_gpu_run(call, source, large ? "product_128" : "product_64",
                       grid_of(tiles_of(p, tile, tile), tile * TKI_GEMM_THREADS_PER_LINE), p);
}

tk_status tki_linear_launch_gpu(const tki_call *call, const tki_linear_params *p)
{
    const tki_gemm_params product = tki_plain_product_of(p);
    const int64_t tiles = tiles_of(&product, TKI_LINEAR_TILE, TKI_LINEAR_TILE);
    return tiles == 0 ? TK_OK
                      : tki_gpu_run(call, "ops/product/kernel_linear.cu", "layer",
                                    grid_of(tiles, TKI_LINEAR_TILE * TKI_LINEAR_THREADS_PER_LINE), p);
}

/* -- On matrix units ------------------------------------------------------------------------------------------- */

typedef struct tile {
    unsigned rows, cols, threads, depth, stages;
} tile;

enum { LARGE, SMALL, PAIRS };

static const char *const tensor_kernels[][3] = {{"product_nn_large", "product_nn_small", "product_nn_pairs"},
                                                {"product_nt_large", "product_nt_small", "product_nt_pairs"},
                                                {"product_tn_large", "product_tn_small", "product_tn_pairs"}};

/* Where both strides are 1, a factor is one line or has one place along the sum, and may be taken either way: this one makes sure that no
 * product is of a left factor across the sum and a right one along it. */
static bool lies_along(const tki_gemm_factor *factor)
{
    return factor->line_stride != 1;
}

/* Do all rows of it begin at multiples of 16 bytes? */
static bool has_whole_pieces(const tki_gemm_factor *factor)
{
    const int64_t pitch = lies_along(factor) ? factor->line_stride : factor->inner_stride;
    return (uintptr_t)factor->data % 16 == 0 && pitch % 8 == 0;
}

static tile tile_of(const tki_gpu_info *device, int kind)
{
    const bool cuda = device->backend == &tki_backends[TKI_CUDA];
    if (cuda && kind == LARGE)
        return (tile){TKI_TENSOR_ROWS, TKI_TENSOR_COLS, TKI_TENSOR_THREADS, TKI_TENSOR_DEPTH, TKI_TENSOR_STAGES};
    tile t = {TKI_TENSOR_STAGED_ROWS, TKI_TENSOR_STAGED_COLS, TKI_TENSOR_STAGED_THREADS, TKI_TENSOR_STAGED_DEPTH,
              TKI_TENSOR_STAGED_STAGES};
    if (cuda && kind == PAIRS)
        t.depth = TKI_TENSOR_PAIRS_DEPTH;
    if (kind == SMALL) {
        t.rows = t.cols = TKI_TENSOR_SMALL;
        t.threads = TKI_TENSOR_SMALL_THREADS;
        t.depth = cuda ? TKI_TENSOR_SMALL_DEPTH : t.depth;
        t.stages = cuda ? TKI_TENSOR_SMALL_STAGES : t.stages;
    }
    return t;
}

static unsigned shared_bytes_of(const tile *t)
{
    return t->stages * (t->rows + t->cols) * t->depth * (unsigned)sizeof(uint16_t);
}

tk_status tki_gemm_launch_tensor(const tki_call *call, const tki_gemm_params *p)
{
    if (p->rows == 0 || p->cols == 0)
        return TK_OK;
    const tki_gpu_info *device = tki_gpu_describe(call->gpu);
    tile t = tile_of(device, LARGE);
    /* The large tile does about 4/3 of the small one's work in the same time, so a quarter of the multiprocessors may be idle. */
    const bool fills = 4 * tiles_of(p, t.rows, t.cols) >= 3 * (int64_t)device->units;
    int kind = fills && shared_bytes_of(&t) <= (unsigned)device->shared_bytes ? LARGE : SMALL;
    if (!has_whole_pieces(&p->left) || !has_whole_pieces(&p->right))
        kind = PAIRS;
    t = tile_of(device, kind);
    tki_gpu_grid grid = grid_of(tiles_of(p, t.rows, t.cols), t.threads);
    grid.shared_bytes = shared_bytes_of(&t);
    const int layout = !lies_along(&p->left) ? 2 : lies_along(&p->right);
    return tki_gpu_run(call, tensor_source, tensor_kernels[layout][kind], grid, p);
}
