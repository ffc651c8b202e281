/* UNTRUSTED. Products of groups of rows on any GPU, by the tiles of gemm: the bits are those of gemm's kernel on the group alone. */
#include "ops/product/kernel_tiles.h"
#include "ops/product/kernel_groups.h"

/* The product of a group. Its rows, or what a sum runs over, are the group's; group g is a sum over nothing. */
DEVICE tki_gemm_params product_of(const tki_grouped_params &p, int64_t group)
{
    tki_gemm_params q = p.all;
    const int64_t begin = begin_of(p.of, group), rows = end_of(p.of, group) - begin;
    const element *left = (const element *)q.left.data, *right = (const element *)q.right.data;
    result_element *out = (result_element *)q.out;
    if (p.over_rows) {
        q.left.data = left + begin * q.left.inner_stride;
        q.right.data = right + begin * q.right.inner_stride;
        q.out = out + group * q.rows * q.cols;
        q.inner = rows;
        return q;
    }
    q.left.data = left + begin * q.left.line_stride;
    q.right.data = right + (group < p.of.groups ? group * q.inner * q.cols : 0);
    q.out = out + begin * q.cols;
    q.rows = rows;
    q.inner = group < p.of.groups ? q.inner : 0;
    return q;
}

/* Blocks take tiles in turn, so that any number of blocks does the work. What a tile's product is lies in shared memory: registers are for
 * sums. */
template <int TILE> DEVICE void multiply_groups(const tki_grouped_params &p)
{
    SHARED tki_gemm_params own;
    SHARED int64_t first_row, first_col;
    const int64_t across = (p.all.cols + TILE - 1) / TILE;
    const int64_t down = p.over_rows ? (p.all.rows + TILE - 1) / TILE : 1;
    const int64_t tiles = p.of.table[TKI_GROUPED_TOTAL] * down * across;
    int stage = 0;
    for (int64_t tile = block_index(); tile < tiles; tile += block_count()) {
        block_barrier(); /* all are done with the tile before */
        if (thread_index() == 0) {
            const int64_t line = tile / across;
            const int64_t group = p.over_rows ? line / down : group_with(p.of, line);
            own = product_of(p, group);
            first_row = (p.over_rows ? line % down : line - p.of.table[TKI_GROUPED_FIRST + group]) * TILE;
            first_col = tile % across * TILE;
        }
        block_barrier();
        multiply_tile<TILE>(own, first_row, first_col, stage);
    }
}

enum { THREADS = TKI_GROUPED_TILE * TKI_GEMM_THREADS_PER_LINE };

/* gemm's larger tile would spill here. */
KERNEL(THREADS, 4, product, tki_grouped_params)
{
    multiply_groups<TKI_GROUPED_TILE>(p);
}
