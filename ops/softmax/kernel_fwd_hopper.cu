/* UNTRUSTED. Row softmax on Hopper. Rows that fit into registers are those of kernel_fwd.cu. Of wider ones the blocks of a
 * cluster have a row in their shared memory, a stretch each, which bulk copies bring; rows that are not made of whole packs at multiples
 * of 16 bytes are shifted there, with the same bits. */
#include "backend/device_cluster.h"
#include "ops/softmax/kernel_fwd.cu"

template <bool whole> DEVICE void fwd_staged(const tki_softmax_params &p)
{
    SHARED cluster_memory<softmax_slots> memory;
    cluster_team team = cluster_begin(memory);
    const int64_t row = row_of_cluster();
    const tensor_row rows[1] = {{p.in, p.rows, p.cols, row}};
    const stage stages[1] = {stage_of<whole>(p.cols, 0)};
    const stage &at = stages[0];
    element *y = (element *)p.out + row * p.cols;
    stage_fill<whole>(team, stages, rows);
    cluster_open();
    float largest = -float_infinity();
    stage_wait<whole>(team, stages, rows, (uint32_t)minus_infinity_word);
    for (int pack = (int)thread_index(); pack < at.packs; pack += (int)thread_count())
        largest = larger(largest, pack_larger(stage_load(at, pack)));
    const row_origin origin = origin_at(team_larger(team, largest, max_slot));
    float e[pack_columns];
    float sum[1] = {0.0f};
#pragma unroll 2
    for (int pack = (int)thread_index(); pack < at.packs; pack += (int)thread_count()) {
        pack_exponentials(stage_load(at, pack), origin, e);
        sum[0] += sum_of_pack(e);
    }
    team_sums(team, sum, sum_slot);
    const float factor = reciprocal_flush(sum[0]);
    element *to = hold_address(y + stretch_packs(p.cols) * cluster_rank() * pack_columns);
#pragma unroll 2
    for (int pack = (int)thread_index(); pack < at.packs; pack += (int)thread_count()) {
        pack_exponentials(stage_load(at, pack), origin, e);
        stage_put<whole>(at, pack, to, pack_scaled(e, factor));
    }
    stage_flush<whole>(at, y, p.cols);
}

KERNEL(512, 3, softmax_fwd_staged, tki_softmax_params)
{
    fwd_staged<true>(p);
}

KERNEL(512, 3, softmax_fwd_staged_any, tki_softmax_params)
{
    fwd_staged<false>(p);
}
