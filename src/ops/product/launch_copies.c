/* UNTRUSTED. Factors and outputs that the copy engine cannot take or store where they are. */
#include "ops/product/launch_copies.h"

#include "runtime/gpu.h"

bool tki_is_aligned(const void *data)
{
    return (uintptr_t)data % 16 == 0;
}

size_t tki_whole_lines(int64_t elements)
{
    return ((size_t)elements * sizeof(uint16_t) + 255) / 256 * 256;
}

static int64_t all_rows(const tki_layout *factor)
{
    return factor->matrices ? factor->matrices * factor->rows : factor->rows;
}

size_t tki_copy_bytes(const tki_layout *factor)
{
    return factor->pitch % TKI_COPY_PIECE || !tki_is_aligned(factor->data)
               ? tki_whole_lines(all_rows(factor) * factor->aligned_pitch)
               : 0;
}

static tki_gpu_grid copy_grid(const tki_call *call, int64_t elements)
{
    enum { THREADS = 256 };
    const int64_t blocks = tki_divide_up(elements / TKI_COPY_PIECE + 1, THREADS);
    const int64_t most = 8 * (int64_t)tki_gpu_describe(call->gpu)->units;
    return (tki_gpu_grid){.blocks = {(unsigned)(blocks < most ? blocks : most)}, .threads = THREADS};
}

static void move_aside(tki_layout *factor, char **scratch, tki_gemm_realign *copy)
{
    const size_t bytes = tki_copy_bytes(factor);
    if (bytes == 0)
        return;
    *copy = (tki_gemm_realign){factor->data, *scratch, all_rows(factor), factor->cols, factor->aligned_pitch};
    *scratch += bytes;
    factor->data = copy->to;
    factor->pitch = copy->pitch;
}

tk_status tki_copy_factors(const tki_call *call, tki_layout *left, tki_layout *right, char **scratch)
{
    tki_gemm_realign_params copies = {0};
    move_aside(left, scratch, &copies.factor[0]);
    move_aside(right, scratch, &copies.factor[1]);
    const int64_t elements = copies.factor[0].rows * copies.factor[0].pitch +
                             copies.factor[1].rows * copies.factor[1].pitch;
    if (elements == 0 && !call->prepare_only)
        return TK_OK;
    return tki_gpu_run(call, call->lowering->source, "realign", copy_grid(call, elements), &copies);
}

tk_status tki_copy_back(const tki_call *call, const tki_gemm_realign *copy)
{
    return tki_gpu_run(call, call->lowering->source, "hand_over", copy_grid(call, copy->rows * copy->cols), copy);
}

tk_status tki_map_layout(const tki_call *call, const tki_layout *layout, int box_cols, tki_gemm_map *map)
{
    const tki_gpu_box box = {.base = layout->data,
                             .matrices = layout->matrices,
                             .rows = layout->rows,
                             .cols = layout->cols,
                             .pitch = layout->pitch,
                             .box_rows = layout->box_rows,
                             .box_cols = box_cols};
    return tki_gpu_map(call->ctx, call->gpu, &box, map);
}
