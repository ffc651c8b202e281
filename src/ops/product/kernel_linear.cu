/* UNTRUSTED. A linear layer and its gradients on any GPU: gemm's sums, and what follows done to them in registers. What is added is added in
 * fp32, bias first; gelu and its derivative see the sum unrounded. */
#include "kernels/device_gelu.h"
#include "ops/product/kernel_tiles.h"
#include "ops/product/params.h"

static_assert(TKI_GEMM_THREADS_PER_LINE == TKI_LINEAR_THREADS_PER_LINE, "launch_gpu.c counts threads by params.h");

/* The product, and what follows it. */
struct layer_params : tki_gemm_params {
    const tki_linear_params &more;
};

DEVICE float from_result(result_element value)
{
#if TKI_RESULT_DTYPE == TKI_DTYPE
    return from_element(value);
#else
    return value;
#endif
}

DEVICE void finish_quad(const layer_params &q, int64_t row, int64_t col, int64_t left, const float *sums)
{
    const tki_linear_params &p = q.more;
    const int64_t first = row * p.cols + col;
    float v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        v[i] = sums[i];
        if (i >= left)
            continue;
        if (p.bias)
            v[i] += from_element(((const element *)p.bias)[col + i]);
        if (p.other)
            v[i] += from_result(((const result_element *)p.other)[first + i]);
        if (p.pre)
            v[i] *= gelu_derivative_of(from_result(((const result_element *)p.pre)[first + i]));
    }
    if (p.unactivated) {
        store_quad((result_element *)p.unactivated + first, left, v);
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] = gelu_of(v[i]);
    }
    store_quad((result_element *)p.out + first, left, v);
}

/* Blocks take tiles in turn, so that any number of blocks does the work. In larger tiles what follows the sums would spill registers. */
KERNEL(TKI_LINEAR_TILE *TKI_LINEAR_THREADS_PER_LINE, 4, layer, tki_linear_params)
{
    const tki_gemm_params product = {{p.left.data, p.left.line_stride, p.left.inner_stride},
                                     {p.right.data, p.right.line_stride, p.right.inner_stride},
                                     p.out,
                                     p.rows,
                                     p.cols,
                                     p.inner};
    const layer_params q = {product, p};
    const int64_t tiles_across = (p.cols + TKI_LINEAR_TILE - 1) / TKI_LINEAR_TILE;
    const int64_t tiles = (p.rows + TKI_LINEAR_TILE - 1) / TKI_LINEAR_TILE * tiles_across;
    int stage = 0;
    for (int64_t tile = block_index(); tile < tiles; tile += block_count())
        multiply_tile<TKI_LINEAR_TILE>(q, tile / tiles_across * TKI_LINEAR_TILE,
                                       tile % tiles_across * TKI_LINEAR_TILE, stage);
}
